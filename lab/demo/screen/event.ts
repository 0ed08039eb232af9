/** Formats events of the world and changes of the autoscaler as lines of the screen. */
import { styleText } from 'node:util';
import type { ChangeKind, LoggedChange } from '../../../cli/logs/logged-changes.ts';

export type Colour = 'bold' | 'dim' | 'green' | 'yellow' | 'cyan' | 'red';
export type Paint = (colour: Colour, text: string) => string;

/** Paints only if the stream shows colours: a terminal, without NO_COLOR. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  return (colour, text) => styleText(colour, text, { stream });
}

export type ScreenEvent = {
  readonly head?: { readonly colour: Colour; readonly text: string };
  readonly text: string;
};

const MARKS: Readonly<Record<ChangeKind, readonly [mark: string, colour: Colour]>> = {
  out: ['+', 'green'],
  in: ['-', 'yellow'],
  drain: ['~', 'cyan'],
};

/** `+ gpu 2 -> 5: 3 pending jobs need a new task`. */
export function changeEvent({ pool, kind, what, why }: LoggedChange): ScreenEvent {
  const [mark, colour] = MARKS[kind];
  return { head: { colour, text: `${mark} ${pool} ${what}` }, text: `: ${why}` };
}

export type EventLine = {
  /** `09:00:45` */
  readonly time: string;
  readonly event: ScreenEvent;
  readonly paint: Paint;
  /** The width of the terminal. @default lines are not wrapped */
  readonly columns?: number | undefined;
};

const NARROWEST = 30;

export function eventText({ time, event: { head, text }, paint, columns }: EventLine): string {
  const plain = `${head?.text ?? ''}${text}`;
  const indent = time.length + 2;
  const width = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(NARROWEST, columns - 1 - indent);
  const [first = '', ...rest] = wrap(plain, width);
  const painted =
    head !== undefined && first.startsWith(head.text)
      ? paint(head.colour, head.text) + first.slice(head.text.length)
      : first;
  return [`${paint('dim', time)}  ${painted}`, ...rest.map((line) => ' '.repeat(indent) + line)].join('\n');
}

/** Breaks a text without colours into lines of at most `width` characters, between words. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
  }
  return [...lines, line];
}
