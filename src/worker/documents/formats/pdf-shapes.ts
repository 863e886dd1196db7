/** Left, bottom, right, top, in points. */
export type Box = readonly [number, number, number, number];

export type Matrix = readonly [number, number, number, number, number, number];

type Point = readonly [x: number, y: number];

/** A line that is drawn, level or upright, from its lower left end on. */
export type Rule = {
  readonly x: number;
  readonly y: number;
  readonly toX: number;
  readonly toY: number;
};

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];
const NOWHERE: Box = [Infinity, Infinity, -Infinity, -Infinity];

/** The product of two matrices: it applies the second one first. */
export function multiply(one: Matrix, [g, h, i, j, k, l]: Matrix): Matrix {
  const [a, b, c, d, e, f] = one;
  return [
    a * g + c * h,
    b * g + d * h,
    a * i + c * j,
    b * i + d * j,
    a * k + c * l + e,
    b * k + d * l + f,
  ];
}

const pointOf = ([a, b, c, d, e, f]: Matrix, x: number, y: number): Point => [
  a * x + c * y + e,
  b * x + d * y + f,
];

/** The cosine and the sine of an angle in degrees. */
export function turnOf(degrees: number): [cos: number, sin: number] {
  const angle = (degrees * Math.PI) / 180;
  return [Math.cos(angle), Math.sin(angle)];
}

/** The box around the corners of a box after a matrix is applied. */
export const boxOf = (matrix: Matrix, [left, bottom, right, top]: Box): Box =>
  boxAround([
    pointOf(matrix, left, bottom),
    pointOf(matrix, right, bottom),
    pointOf(matrix, left, top),
    pointOf(matrix, right, top),
  ]);

function boxAround(points: readonly Point[]): Box {
  let [left, bottom, right, top] = NOWHERE;
  for (const [x, y] of points) {
    left = Math.min(left, x);
    bottom = Math.min(bottom, y);
    right = Math.max(right, x);
    top = Math.max(top, y);
  }
  return [left, bottom, right, top];
}

/** The intersection of two boxes; if there is none, the sides of the result are out of order. */
export const intersect = (one: Box, two: Box): Box => [
  Math.max(one[0], two[0]),
  Math.max(one[1], two[1]),
  Math.min(one[2], two[2]),
  Math.min(one[3], two[3]),
];

/** One part of a path. A part with a curve has no edges. */
export type Shape = {
  readonly box: Box;
  readonly edges: readonly Box[];
  readonly isRectangle: boolean;
};

/** The shapes of a path of pdf.js, which is a list of operators, each followed by its coordinates. */
export function shapesOf(matrix: Matrix, path: ArrayLike<number>): Shape[] {
  const shapes = partsOf(matrix, path).map(shapeOf);
  return shapes.some(isHole) ? shapes.map((shape) => ({ ...shape, isRectangle: false })) : shapes;
}

type Part = { readonly points: Point[]; isStraight: boolean };

/** A path with more is a drawing, and none of it is a ruled line. */
const MOST_SHAPES = 4_000;
const [MOVE, CLOSE] = [0, 4];
/** How many coordinates follow an operator: to move, a line, two kinds of curves, to close. */
const COORDINATES = [2, 2, 6, 4, 0];

/** Each move begins a part; a part of one point draws nothing. */
function partsOf(matrix: Matrix, path: ArrayLike<number>): Part[] {
  const parts: Part[] = [];
  let part: Part = { points: [], isStraight: true };
  const endPart = (): void => {
    if (part.points.length > 1) parts.push(part);
    part = { points: [], isStraight: true };
  };
  for (let at = 0; at < path.length && parts.length < MOST_SHAPES;) {
    const operator = path[at] ?? CLOSE;
    const length = COORDINATES[operator] ?? 0;
    if (operator === MOVE) endPart();
    if (operator === CLOSE) part.points.push(...part.points.slice(0, 1));
    if (length > 2) part.isStraight = false;
    at += 1 + length;
    if (length > 0) part.points.push(pointOf(matrix, path[at - 2] ?? 0, path[at - 1] ?? 0));
  }
  endPart();
  return parts;
}

function shapeOf({ points, isStraight }: Part): Shape {
  const edges = isStraight
    ? points.slice(1).map((to, at) => boxAround([points[at] ?? to, to]))
    : [];
  return {
    box: boxAround(points),
    edges,
    isRectangle: edges.length >= 3 && edges.length <= 5 && edges.every(isAligned),
  };
}

const isAligned = ([left, bottom, right, top]: Box): boolean =>
  right - left < 0.5 || top - bottom < 0.5;

/** A part of a path that overlaps the one before may be a hole in it. */
function isHole({ box }: Shape, at: number, shapes: readonly Shape[]): boolean {
  const [left, bottom, right, top] = intersect(shapes[at - 1]?.box ?? NOWHERE, box);
  return right - left > 0.5 && top - bottom > 0.5;
}

const THICKEST_RULE = 3;
const SHORTEST_RULE = 8;

/** A box as a rule; undefined if it is not thin and long enough. */
export function ruleOf([x, y, toX, toY]: Box): Rule | undefined {
  const [wide, tall] = [toX - x, toY - y];
  const isRule = Math.min(wide, tall) <= THICKEST_RULE && Math.max(wide, tall) >= SHORTEST_RULE;
  if (!isRule) return undefined;
  const [middleX, middleY] = [(x + toX) / 2, (y + toY) / 2];
  return wide > tall ? { x, y: middleY, toX, toY: middleY } : { x: middleX, y, toX: middleX, toY };
}

/** Turns rules back by an angle in degrees; empty unless it is a multiple of 90, because no rule is level or upright then. */
export function turnRules(rules: readonly Rule[], turn: number): readonly Rule[] {
  if (turn === 0) return rules;
  if (turn % 90 !== 0) return [];
  const [cos, sin] = turnOf(-turn).map(Math.round) as [number, number];
  const matrix: Matrix = [cos, sin, -sin, cos, 0, 0];
  return rules.flatMap(({ x, y, toX, toY }) => ruleOf(boxOf(matrix, [x, y, toX, toY])) ?? []);
}
