/** Workspaces that people make for one task; where there are prebuilt ones they get one of these, and coderd builds the next. */
import { drawSeconds } from './draws.ts';
import { replacePrebuild } from './prebuilds.ts';
import type { Template } from './scenario.ts';
import type { Scene } from './scene.ts';
import type { Stretch } from './stretch.ts';

/** The others ask for parameters that no preset has, or find none ready: an assumption. */
const CLAIMS = 0.9;
/** The others forget it: coderd stops it. */
const DELETED_BY_HAND = 0.7;
const HOUR_MS = 3_600_000;

/** Somebody who is at work creates a workspace, and is done with it some hours later. */
export function createFresh(template: Template, stretches: readonly Stretch[], scene: Scene): void {
  const { random, submit } = scene;
  const stretch = random.pick(stretches);
  if (stretch === undefined) return;
  const at = random.between(stretch.from, stretch.to);
  const { prebuilds } = template;
  const claims = prebuilds !== undefined && random.next() < CLAIMS;
  const workspace = scene.nameWorkspace();
  const seconds = drawSeconds(random, claims ? prebuilds.claim : template.start);
  submit('user', template, at, seconds, { workspace, transition: 'start' });
  if (claims) replacePrebuild(template, prebuilds, at, scene);
  const ready = at + seconds * 1000;
  const stopSeconds = drawSeconds(random, template.stop);
  if (random.next() < DELETED_BY_HAND)
    submit('user', template, ready + random.between(1, 6) * HOUR_MS, stopSeconds, {
      workspace,
      transition: 'delete',
    });
  else
    submit('autostop', template, ready + template.ttlHours * HOUR_MS, stopSeconds, {
      workspace,
      transition: 'stop',
    });
}
