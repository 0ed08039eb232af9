/** Draws bursts of builds at random times. Each build has its own workspace. */
import { MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import type { Random } from '../../../world/base/random.ts';
import { BacktestError } from '../backtest-error.ts';
import { drawSeconds, exponential, poisson } from './draws.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { LocalDay } from './local-day.ts';
import type { Bursts, Template } from './scenario.ts';

/** Adds the builds of the bursts that begin on a day. Throws BacktestError if the template is unknown. */
export function addBursts(
  bursts: Bursts,
  templates: readonly Template[],
  day: LocalDay,
  context: GeneratorContext,
): void {
  const { random } = context;
  const template = templates.find(({ name }) => name === bursts.template);
  if (template === undefined)
    throw new BacktestError(
      `drawing bursts: the scenario has no template "${bursts.template}"; add it, or correct the name`,
    );
  for (let left = poisson(random, bursts.perDay); left > 0; left--)
    addBurstChain(bursts, template, day.at(random.between(...bursts.between)), context);
}

function addBurstChain(bursts: Bursts, template: Template, first: number, context: GeneratorContext): void {
  const { random } = context;
  const { chance, afterMinutes } = bursts.again ?? { chance: 0, afterMinutes: 0 };
  let at = first;
  do {
    for (let left = drawSize(bursts.size, random); left > 0; left--)
      addBuild(bursts, template, at + random.between(0, bursts.withinSeconds) * 1000, context);
    at += exponential(random, afterMinutes) * MINUTE_MS;
  } while (random.next() < chance);
}

/** Log-uniform: a burst of half the size is twice as frequent. */
function drawSize([from, to]: Bursts['size'], random: Random): number {
  return Math.round(from * (to / from) ** random.next());
}

function addBuild({ livesMinutes }: Bursts, template: Template, at: number, context: GeneratorContext): void {
  const { random, submit } = context;
  const workspace = context.nameWorkspace();
  const seconds = drawSeconds(random, template.start);
  submit('user', template, at, seconds, { workspace, transition: 'start' });
  if (livesMinutes === undefined) return;
  const deletedAt = at + seconds * 1000 + random.between(...livesMinutes) * MINUTE_MS;
  submit('user', template, deletedAt, drawSeconds(random, template.stop), {
    workspace,
    transition: 'delete',
  });
}
