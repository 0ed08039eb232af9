/**
 * Chooses a position for the label of each chart point. No label covers a point or another label.
 */
export type NamedPoint = { readonly name: string; readonly x: number; readonly y: number };
export type Size = { readonly width: number; readonly height: number };
/** The side of the point, and pixels from the middle of the point downwards. */
export type LabelPlace = { readonly side: 'left' | 'right'; readonly dy: number };

export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

const POINT = 16;
export const LABEL_GAP = 6;
const LINE_HEIGHT = 15;
/** Pixels of an average letter, rounded up. Only a browser knows the real width of a text. */
const LETTER_WIDTH = 6.9;
/**
 * Nearest position first. Below comes before above: the line through the best policies comes from
 * above.
 */
const PLACES: readonly LabelPlace[] = [[11, -11], [0], [27, -27], [43, -43], [59, -59], [75, -75]].flatMap(
  (shifts) => [
    ...shifts.map((dy) => ({ side: 'right', dy }) as const),
    ...shifts.map((dy) => ({ side: 'left', dy }) as const),
  ],
);

/**
 * Points and occupied boxes are in pixels from the top left corner of the area.
 * A label without room is undefined: the legend has the name too.
 */
export function placeLabels(
  points: readonly NamedPoint[],
  area: Size,
  occupied: readonly Box[],
): readonly (LabelPlace | undefined)[] {
  const taken = [...occupied, ...points.map(({ x, y }) => around(x, y))];
  return points.map((point) => {
    const place = PLACES.find((each) => {
      const box = boxOf(point, each);
      return isWithin(box, area) && !taken.some((other) => overlap(box, other));
    });
    if (place !== undefined) taken.push(boxOf(point, place));
    return place;
  });
}

const around = (x: number, y: number): Box => ({
  x: x - POINT / 2,
  y: y - POINT / 2,
  width: POINT,
  height: POINT,
});

function boxOf({ name, x, y }: NamedPoint, { side, dy }: LabelPlace): Box {
  const width = name.length * LETTER_WIDTH;
  const gap = POINT / 2 + LABEL_GAP;
  return {
    x: side === 'right' ? x + gap : x - gap - width,
    y: y + dy - LINE_HEIGHT / 2,
    width,
    height: LINE_HEIGHT,
  };
}

const isWithin = (box: Box, area: Size): boolean =>
  box.x >= 0 && box.x + box.width <= area.width && box.y >= 0 && box.y + box.height <= area.height;

export const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;
