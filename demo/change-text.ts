/** Formats a change as a line: its direction in colour, and its reason. */
import { styleText } from 'node:util';
import type { Change, ChangeKind } from './function/logged-look.ts';

const MARKS: Readonly<Record<ChangeKind, readonly [mark: string, colour: 'green' | 'yellow' | 'cyan']>> = {
  out: ['+', 'green'],
  in: ['-', 'yellow'],
  drain: ['~', 'cyan'],
};

/** `+ gpu  2 -> 5  3 pending jobs need a new task`. Colours only where `stream` shows them. */
export function changeText({ pool, kind, what, why }: Change, stream: NodeJS.WriteStream): string {
  const [mark, colour] = MARKS[kind];
  return `${styleText(colour, `${mark} ${pool.padEnd(8)}${what}`, { stream })}  ${why}`;
}
