/** Converts a trace to text in the format of docs/backtest.md. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Trace } from './trace.ts';

/** The lines of a trace, each with its line end. `readTrace` turns them into the same trace. */
export function* writeTrace(trace: Trace): Generator<string> {
  const { name, from, to, timezone, outages, startSeconds, jobs } = trace;
  yield line({
    trace: 1,
    name,
    from: timeText(from),
    to: timeText(to),
    timezone,
    startSeconds,
    ...(outages.length > 0
      ? { outages: outages.map(({ at, seconds }) => ({ at: timeText(at), seconds })) }
      : {}),
  });
  for (const { at, organization, tags, seconds, kind, workspace, transition } of jobs)
    yield line({ at: timeText(at), organization, tags, seconds, kind, workspace, transition });
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

const timeText = (time: EpochMs): string => new Date(time).toISOString().replace('.000Z', 'Z');
