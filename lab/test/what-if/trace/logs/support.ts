import type { Log } from '../../../../what-if/trace/logs/log.ts';
import { TraceError } from '../../../../what-if/trace/problems.ts';

/** The lines as short texts: `09:00:00 74 s large`, what is wrong, or why it is left out. */
export const shownLines = ({ lines }: Log): readonly string[] =>
  lines.map((line) => {
    if (line.kind === 'left-out') return line.omission;
    if (line.kind === 'bad')
      return line.problems.map((each) => `${each.line ?? ''}: ${each.path}: ${each.message}`).join('\n');
    const { at, seconds, group } = line.job;
    const time = new Date(at).toISOString().slice(11).replace('.000', '');
    return `${time} ${seconds} s${group === undefined ? '' : ` ${group}`}`;
  });

/** The message of the TraceError that `act` throws. */
export function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof TraceError) return error.message;
    throw error;
  }
  throw new Error('reading a bad log: it was accepted');
}
