/** Shows the demo: a live screen on a terminal, one line per event and change elsewhere. */
import { styleText } from 'node:util';
import { createLogUpdate } from 'log-update';
import type { World } from '../simulator/world.ts';
import type { Change } from './function/logged-look.ts';
import { rowsOf } from './rows.ts';
import { START, TYPICAL_LENGTH_MS } from './scenario.ts';
import { changeEvent, eventText, type Paint, paintFor, type ScreenEvent } from './screen/event.ts';
import { type Canvas, drawFrame, type Progress } from './screen/frame.ts';
import { type Summary, summaryText } from './summary.ts';

export type View = {
  /** Shows a line about an event. */
  readonly say: (line: string) => void;
  /** Shows what the autoscaler changed, and why. */
  readonly change: (change: Change) => void;
  /** Shows the current state. */
  readonly draw: () => void;
  readonly end: (summary: Summary, tookMs: number) => void;
};

export type ViewOptions = {
  readonly stream: NodeJS.WriteStream;
  /** Simulated milliseconds per real one. */
  readonly speed: number;
  /** Called with each frame of a recording: coloured, for a terminal of 80 columns. */
  readonly onFrame?: ((frame: string) => void) | undefined;
};

/** Creates a view that writes to `stream`: live on a terminal, one line per event elsewhere. */
export function createView(world: World, options: ViewOptions): View {
  if (options.onFrame !== undefined) return recordingView(world, options, options.onFrame);
  return options.stream.isTTY ? liveView(world, options) : quietView(world, options);
}

const SIZE = { columns: 80, rows: 24 };

function liveView(world: World, { stream, speed }: ViewOptions): View {
  const update = createLogUpdate(stream);
  const paint = paintFor(stream);
  const events = new Events(world);
  const screen = (isOver: boolean): string => {
    const { columns = SIZE.columns, rows = SIZE.rows } = stream;
    return draw(world, { events, speed, isOver, canvas: { paint, columns, rows } });
  };
  return {
    ...events.listeners,
    draw: () => update(screen(false)),
    end: (summary, tookMs) => {
      update(screen(true));
      update.done();
      stream.write(`\n${summaryText(summary, tookMs)}\n`);
    },
  };
}

function recordingView(world: World, { speed }: ViewOptions, onFrame: (frame: string) => void): View {
  const paint: Paint = (colour, text) => styleText(colour, text, { validateStream: false });
  const events = new Events(world);
  const screen = (isOver: boolean): string =>
    draw(world, { events, speed, isOver, canvas: { ...SIZE, paint } });
  return {
    ...events.listeners,
    draw: () => onFrame(screen(false)),
    end: () => onFrame(screen(true)),
  };
}

function quietView(world: World, { stream }: ViewOptions): View {
  const paint = paintFor(stream);
  const show = (event: ScreenEvent): void =>
    void stream.write(`${eventText({ time: worldTime(world), event, paint })}\n`);
  return {
    say: (text) => show({ text }),
    change: (change) => show(changeEvent(change)),
    draw: () => {},
    end: (summary, tookMs) => void stream.write(`\n${summaryText(summary, tookMs)}\n`),
  };
}

/** All events so far, each with its time. */
class Events {
  readonly listeners: Pick<View, 'say' | 'change'>;
  readonly #all: { readonly time: string; readonly event: ScreenEvent }[] = [];

  constructor(world: World) {
    const add = (event: ScreenEvent): void => void this.#all.push({ time: worldTime(world), event });
    this.listeners = { say: (text) => add({ text }), change: (change) => add(changeEvent(change)) };
  }

  /** The lines of the latest events; the latest last. */
  lines({ paint, columns, rows }: Canvas): readonly (readonly string[])[] {
    return this.#all.slice(-rows).map((each) => eventText({ ...each, paint, columns }).split('\n'));
  }
}

type Drawn = {
  readonly events: Events;
  readonly speed: number;
  readonly isOver: boolean;
  readonly canvas: Canvas;
};

function draw(world: World, { events, speed, isOver, canvas }: Drawn): string {
  const jobs = world.coderd.jobs();
  const count = (status: string): number => jobs.filter((job) => job.status === status).length;
  const frame = {
    time: worldTime(world),
    progress: progressOf(world, speed, isOver),
    pools: rowsOf(world),
    jobs: { pending: count('pending'), running: count('running'), succeeded: count('succeeded') },
    events: events.lines(canvas),
  };
  return drawFrame(frame, canvas);
}

/** Progress by the typical length of the demo: its end depends on random durations. */
function progressOf(world: World, speed: number, isOver: boolean): Progress {
  if (isOver) return { done: 1, secondsLeft: 0 };
  const passedMs = world.timeline.now() - START;
  const leftMs = Math.max(0, TYPICAL_LENGTH_MS - passedMs);
  return {
    done: Math.min(0.99, passedMs / TYPICAL_LENGTH_MS),
    secondsLeft: Math.ceil(leftMs / speed / 1000),
  };
}

function worldTime(world: World): string {
  return new Date(world.timeline.now()).toISOString().slice(11, 19);
}
