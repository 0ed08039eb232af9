/** Shows the demo: a live screen on a terminal, one line per event and change elsewhere. */
import { createLogUpdate } from 'log-update';
import type { LoggedChange } from '../../cli/logs/logged-changes.ts';
import type { World } from '../world/world.ts';
import { rowsOf } from './rows.ts';
import { SPEED, START, TYPICAL_LENGTH_MS } from './scenario.ts';
import { changeEvent, eventText, type Paint, paintFor, type ScreenEvent, wrap } from './screen/event.ts';
import { type Canvas, type DemoProgress, drawFrame } from './screen/frame.ts';
import { type Summary, summaryText } from './summary.ts';

export type View = {
  readonly say: (line: string) => void;
  readonly change: (change: LoggedChange) => void;
  readonly draw: () => void;
  readonly end: (summary: Summary, tookMs: number) => void;
};

/** Creates a view that writes to `stream`: live on a terminal, one line per event elsewhere. */
export function createView(world: World, stream: NodeJS.WriteStream): View {
  // a dumb terminal cannot move its cursor
  return stream.isTTY && process.env.TERM !== 'dumb'
    ? liveView(world, stream)
    : quietView(world, { paint: paintFor(stream), write: (text) => void stream.write(text) });
}

const SIZE = { columns: 80, rows: 24 };

function liveView(world: World, stream: NodeJS.WriteStream): View {
  const update = createLogUpdate(stream);
  const paint = paintFor(stream);
  const events = new Events(world);
  const canvas = (): Canvas => {
    const { columns = SIZE.columns, rows = SIZE.rows } = stream;
    return { paint, columns, rows };
  };
  const show = (): void => update(draw(world, { events, isOver: false, canvas: canvas() }));
  return {
    ...events.listeners,
    say: (text) => {
      events.listeners.say(text);
      show();
    },
    draw: show,
    // the screen has the latest events only: the whole story goes into the terminal's scrollback
    end: (summary, tookMs) => {
      update.clear();
      const { columns } = canvas();
      stream.write(`${events.text(paint, columns)}\n\n`);
      update(draw(world, { events: new Events(world), isOver: true, canvas: canvas() }));
      update.done();
      const lines = summaryText(summary, tookMs).split('\n');
      stream.write(`\n${lines.flatMap((line) => wrap(line, columns)).join('\n')}\n`);
    },
  };
}

type Lines = { readonly paint: Paint; readonly write: (text: string) => void };

export function quietView(world: World, { paint, write }: Lines): View {
  const show = (event: ScreenEvent): void =>
    write(`${eventText({ time: worldTime(world), event, paint })}\n`);
  return {
    say: (text) => show({ text }),
    change: (change) => show(changeEvent(change)),
    draw: () => {},
    end: (summary, tookMs) => write(`\n${summaryText(summary, tookMs)}\n`),
  };
}

class Events {
  readonly listeners: Pick<View, 'say' | 'change'>;
  readonly #all: { readonly time: string; readonly event: ScreenEvent }[] = [];

  constructor(world: World) {
    const add = (event: ScreenEvent): void => void this.#all.push({ time: worldTime(world), event });
    this.listeners = { say: (text) => add({ text }), change: (change) => add(changeEvent(change)) };
  }

  text(paint: Paint, columns: number): string {
    return this.#all.map((each) => eventText({ ...each, paint, columns })).join('\n');
  }

  /** The lines of the latest events; the latest last. */
  lines({ paint, columns, rows }: Canvas): readonly (readonly string[])[] {
    return this.#all.slice(-rows).map((each) => eventText({ ...each, paint, columns }).split('\n'));
  }
}

type Drawn = {
  readonly events: Events;
  readonly isOver: boolean;
  readonly canvas: Canvas;
};

function draw(world: World, { events, isOver, canvas }: Drawn): string {
  const jobs = world.coderd.jobs();
  const count = (status: string): number => jobs.filter((job) => job.status === status).length;
  const frame = {
    time: worldTime(world),
    progress: progressOf(world, isOver),
    pools: rowsOf(world),
    jobs: { pending: count('pending'), running: count('running'), succeeded: count('succeeded') },
    events: events.lines(canvas),
  };
  return drawFrame(frame, canvas);
}

/** Progress by the typical length of the demo: its end depends on random durations. */
function progressOf(world: World, isOver: boolean): DemoProgress {
  if (isOver) return { done: 1, secondsLeft: 0 };
  const passedMs = world.timeline.now() - START;
  const leftMs = Math.max(0, TYPICAL_LENGTH_MS - passedMs);
  return {
    done: Math.min(0.99, passedMs / TYPICAL_LENGTH_MS),
    secondsLeft: Math.ceil(leftMs / SPEED / 1000),
  };
}

function worldTime(world: World): string {
  return new Date(world.timeline.now()).toISOString().slice(11, 19);
}
