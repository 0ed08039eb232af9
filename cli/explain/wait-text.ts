/** Words the parts of waits: a short noun phrase for each, what makes it shorter, and its share. */
import { sum } from '../../lambda/decision/model/collections.ts';
import { WAIT_PARTS, type WaitPart, type WaitParts } from '../../lambda/look/waits/wait-parts.ts';

type PartText = {
  /** Fits after `62% of the wait was` and before a number. */
  readonly name: string;
  /** One sentence without a full stop. */
  readonly advice: string;
};

const TEXTS: Readonly<Record<WaitPart, PartText>> = {
  notNoticed: {
    name: 'not noticed yet',
    advice:
      'Keep a daemon free (warm, schedules or a higher waiting.person): without work the autoscaler looks once a minute, unless more looks save more waiting than they cost',
  },
  held: {
    name: 'held back by a limit or for another daemon',
    advice:
      'Raise max, limits.maxTasks or limits.dollarsPerHour if the plan names one of them as a reason; otherwise raise waiting.person, so that new tasks are worth more',
  },
  launching: {
    name: 'launch requested',
    advice:
      'Look for findings about failed placement, and for throttled calls of ECS in the log: usually ECS creates a task within seconds',
  },
  notLaunched: {
    name: 'not launched yet',
    advice:
      'Keep a daemon free (warm, schedules or a higher waiting.person), and raise max if the pool is often at it',
  },
  provisioning: {
    name: 'network and placement',
    advice:
      'Keep a daemon free (warm, schedules or a higher waiting.person): AWS places the task and attaches its network interface in this time, and no setting shortens it',
  },
  imagePull: {
    name: 'image pull',
    advice: 'Use a smaller image, from a registry in the same Region such as ECR',
  },
  containerStart: {
    name: 'container start',
    advice:
      'Keep a daemon free (warm, schedules or a higher waiting.person): Fargate creates and starts the container in this time, and no setting shortens it',
  },
  registration: {
    name: 'lease and registration',
    advice:
      "Read the task's log for what the guard and the daemon wait for: usually ECS's answer about the lease, or the connection to coderd",
  },
  queued: {
    name: 'queued in coderd',
    advice:
      'Raise waiting.person or warm to keep more daemons free, and max if the pool is often at it; beside idle daemons up to 30 s are the time until a poll of coderd (docs/troubleshooting.md)',
  },
  unknown: {
    name: 'unknown',
    advice:
      'Look at single jobs: ECS or coderd did not tell these times, often because the task had stopped or the function had just started',
  },
};

/** A short noun phrase: `image pull`. */
export function waitPartName(part: WaitPart): string {
  return TEXTS[part].name;
}

/** What makes this part shorter: one sentence without a full stop. */
export function waitPartAdvice(part: WaitPart): string {
  return TEXTS[part].advice;
}

export type WaitShare = {
  readonly part: WaitPart;
  readonly ms: number;
  /** Of all parts together, 0 to 1. */
  readonly share: number;
};

/** The parts that are not zero, the longest first. */
export function waitShares(parts: WaitParts): readonly WaitShare[] {
  const total = sum(WAIT_PARTS, (part) => parts[part] ?? 0);
  return WAIT_PARTS.flatMap((part) => {
    const ms = parts[part] ?? 0;
    return ms > 0 ? [{ part, ms, share: ms / total }] : [];
  }).toSorted((a, b) => b.ms - a.ms);
}

/** Parts of a list of `namedShares`. More of them add up to `other parts`. */
const MOST_NAMED = 4;

/** The longest parts by name, the longest first, then the sum of the others. Shares: 0 to 1. */
export function namedShares(parts: WaitParts): readonly { readonly name: string; readonly share: number }[] {
  const all = waitShares(parts);
  // one other part has a name of its own
  const named = all.slice(0, all.length <= MOST_NAMED + 1 ? all.length : MOST_NAMED);
  const others = all.slice(named.length);
  return [
    ...named.map(({ part, share }) => ({ name: waitPartName(part), share })),
    ...(others.length === 0 ? [] : [{ name: 'other parts', share: sum(others, ({ share }) => share) }]),
  ];
}

/** A share from 0 to 1 as whole percent: `48%`. Only exactly 0 is `0%`, only exactly 1 is `100%`. */
export function percentText(share: number): string {
  const percent = Math.round(share * 100);
  if (percent === 0 && share > 0) return '<1%';
  return percent === 100 && share < 1 ? '>99%' : `${percent}%`;
}
