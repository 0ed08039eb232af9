/** Takes the steps one after the other: looks, asks, acts, looks again. */
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type { Side, Situation } from './situation.ts';
import { planSteps, STEP_IDS, type Step, type StepId } from './steps.ts';

/** `found`: nothing was left to do. `stopped`: the person ended setup. */
export type Result = 'found' | 'done' | 'skipped' | 'cannot' | 'failed' | 'stopped';

export type Outcome = { readonly step: Step; readonly result: Result; readonly says: string };

export type Answer = 'yes' | 'no' | 'quit';

type Walk = {
  readonly look: () => Promise<Situation>;
  readonly act: (step: Step, situation: Situation) => Promise<string>;
  /** Shows the step before it is taken. */
  readonly announce: (step: Step, number: number) => void;
  readonly ask: (step: Step) => Promise<Answer>;
  readonly report: (outcome: Outcome) => void;
  readonly skip: readonly StepId[];
};

/** Steps that look, or that the account may not need: without them the later ones are as safe as the person says. */
const OPTIONAL: ReadonlySet<StepId> = new Set(['doctor', 'synth', 'cost', 'quota', 'role']);

export async function takeSteps(walk: Walk): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  let situation = await walk.look();
  for (const [index, id] of STEP_IDS.entries()) {
    const planned = planSteps(situation).find((each) => each.id === id);
    if (planned === undefined) continue;
    const step = planned.state === 'todo' ? waiting(planned, outcomes) : planned;
    const isSkipped = step.state !== 'done' && walk.skip.includes(id);
    walk.announce(isSkipped ? { ...step, state: 'cannot' } : step, index + 1);
    const outcome = isSkipped ? { step, ...SKIPPED } : await take(step, walk, situation);
    outcomes.push(outcome);
    walk.report(outcome);
    if (outcome.result === 'stopped') break;
    if (step.asks !== undefined && outcome.result !== 'found') situation = await walk.look();
  }
  return outcomes;
}

const SKIPPED = { result: 'skipped', says: 'not run' } as const;

/** A step cannot be taken while one before it is missing. */
function waiting(step: Step, outcomes: readonly Outcome[]): Step {
  const first = outcomes.find((outcome) => step.after.includes(outcome.step.id) && isMissing(outcome));
  return first === undefined ? step : { ...step, state: 'cannot', says: `it needs "${first.step.id}" first` };
}

async function take(step: Step, walk: Walk, situation: Situation): Promise<Outcome> {
  if (step.state === 'done') return { step, result: 'found', says: step.says };
  if (step.state === 'cannot') return { step, result: 'cannot', says: step.says };
  const answer = step.asks === undefined ? 'yes' : await walk.ask(step);
  if (answer === 'quit') return { step, result: 'stopped', says: 'run setup again to go on here' };
  if (answer === 'no') return { step, ...SKIPPED };
  try {
    return { step, result: 'done', says: await walk.act(step, situation) };
  } catch (cause) {
    const says = messageOf(cause);
    // most accounts have the role, and whoever may not make it may not look either
    const result = step.id === 'role' && REFUSED.aws.test(says) ? 'skipped' : 'failed';
    return { step, result, says };
  }
}

function isMissing({ step, result }: Outcome): boolean {
  if (result === 'skipped') return !OPTIONAL.has(step.id);
  return result === 'cannot' || result === 'failed';
}

/** The commands for a person on each side, for what could not be done from here. */
export function handOver(outcomes: readonly Outcome[]): Readonly<Record<Side, readonly string[]>> {
  const own = (side: Side): readonly string[] =>
    outcomes.flatMap((outcome) => {
      const lacks = lackingIn(outcome);
      const { halves, commands } = outcome.step;
      if (halves !== undefined) return lacks.length > 0 ? halves[side] : [];
      return lacks.includes(side) ? commands : [];
    });
  return { coder: own('coder'), aws: own('aws') };
}

const REFUSED: Readonly<Record<Side, RegExp>> = {
  coder: /coderd answered 40[34]/,
  aws: /AccessDenied|not authorized/,
};

/** A right may turn out to be missing only when the step is taken. */
function lackingIn({ step, result, says }: Outcome): readonly Side[] {
  if (result === 'cannot') return step.lacks;
  return result === 'failed' ? SIDES.filter((side) => REFUSED[side].test(says)) : [];
}

const SIDES = ['coder', 'aws'] as const;
