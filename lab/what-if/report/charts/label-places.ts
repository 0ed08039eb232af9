/** Places labels near their points, off points and other labels. Pixels from the plot's corner. */
import type { Size } from './style.ts';

export type Spot = { readonly x: number; readonly y: number };
/** `radius`: half of its symbol in pixels. @default of the largest symbol */
export type NamedPoint = Spot & {
  readonly name: string;
  readonly isBold?: boolean;
  readonly radius?: number;
};
export type Box = Spot & Size;
/** Where the label is: its left end, middle or right end (`align`), measured from the point. */
export type LabelPlace = {
  readonly text: string;
  readonly dx: number;
  readonly dy: number;
  readonly align: 'left' | 'center' | 'right';
  /** From the point to the label, if the label is not beside its point. */
  readonly leader?: readonly [from: Spot, to: Spot];
};

const LARGEST_RADIUS = 9;
const GAP = 3;
const LINE_HEIGHT = 16;
/** Pixels of an average letter, rounded up: only a browser knows the real width of a text. */
const LETTER_WIDTH = { plain: 7.2, bold: 8.2 } as const;
/** Labels may reach this far out of the plot area. */
const OUTSIDE = { right: 14, top: 12 } as const;
/** Distances from the point. From the third on, a line joins point and label. */
const DISTANCES = [0, 8, 22, 38, 56, 76] as const;
const FIRST_LED = 22;
/** Best direction first. */
const DIRECTIONS = [
  [1, 0],
  [0, -1],
  [-1, 0],
  [0, 1],
  [1, -1],
  [1, 1],
  [-1, -1],
  [-1, 1],
] as const;
/** What makes a place worse, in steps of one direction. */
const COST = { direction: 1, distance: 8, twoLines: 9, onLine: 3, crossedLeader: 60, clash: 200 } as const;
const ROUNDS = 6;

export type Surroundings = {
  readonly area: Size;
  /** Lines that labels avoid where they can. */
  readonly lines?: readonly (readonly Spot[])[];
};

/** A label without name or room is undefined: the tooltip has the name too. */
export function placeLabels(
  points: readonly NamedPoint[],
  { area, lines = [] }: Surroundings,
): readonly (LabelPlace | undefined)[] {
  const fixed = points.map(boxOfPoint);
  const dots = lines.flatMap(alongLine);
  const options = points.map((point) =>
    placesOf(point)
      .filter(({ box }) => isWithin(box, area) && !fixed.some((other) => overlap(box, other)))
      .map((place) => ({ ...place, cost: place.cost + costOnLines(place.box, dots) })),
  );
  return withoutClashes(choose(options)).map((option) => option?.place);
}

/** Each label chooses again once it knows the others: it may displace a label that has other places. */
function choose(options: readonly (readonly Option[])[]): readonly (Option | undefined)[] {
  const chosen: (Option | undefined)[] = options.map(() => undefined);
  for (let round = 0; round < ROUNDS; round++) {
    options.forEach((places, at) => {
      const others = chosen.flatMap((other, place) => (place === at ? [] : (other ?? [])));
      const costs = places.map((place) =>
        others.reduce((cost, other) => cost + costOfClash(place, other), place.cost),
      );
      chosen[at] = places[costs.indexOf(Math.min(...costs))];
    });
  }
  return chosen;
}

/** Leaves out labels that still cover an earlier one. */
function withoutClashes(chosen: readonly (Option | undefined)[]): readonly (Option | undefined)[] {
  const kept: Option[] = [];
  return chosen.map((option) => {
    if (option === undefined || kept.some(({ box }) => overlap(option.box, box))) return undefined;
    kept.push(option);
    return option;
  });
}

type Option = { readonly place: LabelPlace; readonly box: Box; readonly cost: number };

function placesOf(point: NamedPoint): readonly Option[] {
  const texts = [point.name, ...inTwoLines(point.name)].filter((text) => text !== '');
  return texts.flatMap((text, at) =>
    DISTANCES.flatMap((distance, step) =>
      DIRECTIONS.map((direction, rank) => ({
        ...placeAt(point, text, direction, distance),
        cost: at * COST.twoLines + step * COST.distance + rank * COST.direction,
      })),
    ),
  );
}

type Direction = (typeof DIRECTIONS)[number];

function placeAt(point: NamedPoint, text: string, [right, down]: Direction, distance: number) {
  const { width, height } = sizeOf(text, point.isBold ?? false);
  // a diagonal neighbour begins at the corner of the point
  const { radius = LARGEST_RADIUS } = point;
  const away = (right !== 0 && down !== 0 ? radius * 0.7 : radius) + GAP + distance;
  const [dx, dy] = [right * (away + width / 2), down * (away + height / 2)];
  const box = { x: point.x + dx - width / 2, y: point.y + dy - height / 2, width, height };
  const from = { x: point.x + right * radius, y: point.y + down * radius };
  const to = { x: point.x + right * away, y: point.y + down * away };
  const align = right === 0 ? 'center' : right > 0 ? 'left' : 'right';
  const place: LabelPlace = {
    text,
    align,
    dx: right * away,
    dy,
    ...(distance < FIRST_LED ? {} : { leader: [from, to] }),
  };
  return { place, box };
}

function sizeOf(text: string, isBold: boolean): Size {
  const lines = text.split('\n');
  const letters = Math.max(...lines.map(({ length }) => length));
  const width = letters * (isBold ? LETTER_WIDTH.bold : LETTER_WIDTH.plain);
  return { width, height: lines.length * LINE_HEIGHT };
}

/** The name in two lines of about the same length. None: it is one word. */
function inTwoLines(name: string): readonly string[] {
  const breaks = [...name.matchAll(/ /g)].map(({ index }) => index);
  const [middle] = breaks.sort((a, b) => Math.abs(a - name.length / 2) - Math.abs(b - name.length / 2));
  return middle === undefined ? [] : [`${name.slice(0, middle)}\n${name.slice(middle + 1)}`];
}

const boxOfPoint = ({ x, y, radius = LARGEST_RADIUS }: NamedPoint): Box => ({
  x: x - radius,
  y: y - radius,
  width: 2 * radius,
  height: 2 * radius,
});

/** One spot for each 6 pixels of a line. */
function alongLine(line: readonly Spot[]): readonly Spot[] {
  return line.slice(1).flatMap((to, at) => {
    const from = line[at] ?? to;
    const steps = Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 6);
    return Array.from({ length: steps + 1 }, (_, step) => ({
      x: from.x + ((to.x - from.x) * step) / (steps || 1),
      y: from.y + ((to.y - from.y) * step) / (steps || 1),
    }));
  });
}

/** Two labels on each other are worst. Next: a label on the line between another one and its point. */
function costOfClash(one: Option, other: Option): number {
  if (overlap(one.box, other.box)) return COST.clash;
  const isCrossed = isOn(one.box, other.place.leader) || isOn(other.box, one.place.leader);
  return isCrossed ? COST.crossedLeader : 0;
}

const isOn = (box: Box, line: readonly Spot[] | undefined): boolean =>
  line !== undefined && costOnLines(box, alongLine(line)) > 0;

const costOnLines = (box: Box, dots: readonly Spot[]): number =>
  Math.min(4, dots.filter((dot) => overlap(box, { ...dot, width: 0, height: 0 })).length) * COST.onLine;

const isWithin = (box: Box, area: Size): boolean =>
  box.x >= 0 &&
  box.x + box.width <= area.width + OUTSIDE.right &&
  box.y >= -OUTSIDE.top &&
  box.y + box.height <= area.height;

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;
