/** Bursts of builds at random times. Each build has a workspace of its own. */
import type { Random } from '../../../simulator/base/random.ts';
import { drawSeconds, exponential, poisson } from './draws.ts';
import type { LocalDay } from './local-day.ts';
import type { Bursts, Template } from './scenario.ts';
import type { Scene } from './scene.ts';

const MINUTE_MS = 60_000;

/** Adds the builds of the bursts that begin on a day. */
export function burstDay(bursts: Bursts, templates: readonly Template[], day: LocalDay, scene: Scene): void {
  const { random } = scene;
  const template = templates.find(({ name }) => name === bursts.template);
  if (template === undefined) throw new Error(`drawing bursts: "${bursts.template}" is no template`);
  for (let left = poisson(random, bursts.perDay); left > 0; left--)
    addChain(bursts, template, day.at(random.between(...bursts.between)), scene);
}

/** A burst, and those that it brings. */
function addChain(bursts: Bursts, template: Template, first: number, scene: Scene): void {
  const { random } = scene;
  const { chance, afterMinutes } = bursts.again ?? { chance: 0, afterMinutes: 0 };
  let at = first;
  do {
    for (let left = drawSize(bursts.size, random); left > 0; left--)
      addBuild(bursts, template, at + random.between(0, bursts.withinSeconds) * 1000, scene);
    at += exponential(random, afterMinutes) * MINUTE_MS;
  } while (random.next() < chance);
}

/** Half as large is twice as frequent. */
function drawSize([from, to]: Bursts['size'], random: Random): number {
  return Math.round(from * (to / from) ** random.next());
}

function addBuild({ livesMinutes }: Bursts, template: Template, at: number, scene: Scene): void {
  const { random, submit } = scene;
  const workspace = scene.nameWorkspace();
  const seconds = drawSeconds(random, template.start);
  submit('user', template, at, seconds, { workspace, transition: 'start' });
  if (livesMinutes === undefined) return;
  const deletedAt = at + seconds * 1000 + random.between(...livesMinutes) * MINUTE_MS;
  submit('user', template, deletedAt, drawSeconds(random, template.stop), {
    workspace,
    transition: 'delete',
  });
}
