import { FIRST_TEXT, factsOf, levelOf, penAt, placeRun } from "./pdf-glyphs.ts";
import type { DrawnFont, DrawnGlyph, Font, Pen, Placed, Run, TextState } from "./pdf-glyphs.ts";
import { openGrounds } from "./pdf-grounds.ts";
import type { Grounds } from "./pdf-grounds.ts";
import { IDENTITY, boxOf, intersect, multiply, ruleOf, shapesOf } from "./pdf-shapes.ts";
import type { Box, Matrix, Rule } from "./pdf-shapes.ts";

/** A page as pdf.js describes it. */
export type Page = {
  readonly operations: readonly number[];
  readonly args: readonly (readonly unknown[] | null)[];
  /** Names of operations, by their numbers. */
  readonly names: readonly string[];
  /** Box of the visible part of the page. */
  readonly view: Box;
  fontOf(id: string): DrawnFont | undefined;
  /** Whether a layer is shown. */
  isShown(layer: unknown): boolean;
};

/** The state of graphics, which a page stores and restores. */
type State = TextState & {
  readonly matrix: Matrix;
  readonly mode: number;
  /** Null for a pattern, which has no single colour. */
  readonly fill: string | null;
  readonly stroke: string | null;
  readonly alpha: number;
  readonly isBlended: boolean;
  readonly isMasked: boolean;
  readonly clip: Box;
  /** Both flags: since the state was stored. */
  readonly isMoved: boolean;
  readonly hasPainted: boolean;
};

/** Everything that is drawn on a page so far, in the order of drawing. */
export type Canvas = {
  readonly page: Page;
  readonly placed: Placed[];
  readonly rules: Rule[];
  readonly grounds: Grounds;
  readonly fonts: Map<string, Font>;
  /** Whether each of the layers that are open is shown. */
  readonly layers: boolean[];
  readonly stored: State[];
  state: State;
  pen: Pen;
  pictures: number;
  /** Count of paint operations so far; orders what is drawn. */
  order: number;
  /** Glyphs of the run that was drawn last. */
  lastRun: number;
  /** Whether the next path bounds what is shown. */
  isClipping: boolean;
};

/** Follows the operations that draw a page. */
export function drawPage(page: Page): Canvas {
  const canvas = openCanvas(page);
  page.operations.forEach((operation, at) => {
    const operator = OPERATORS[page.names[operation] ?? ""];
    operator?.(canvas, ...((page.args[at] ?? []) as never[]));
  });
  addUnpainted(canvas);
  return canvas;
}

const openCanvas = (page: Page): Canvas => ({
  page,
  placed: [],
  rules: [],
  grounds: openGrounds(),
  fonts: new Map(),
  layers: [],
  stored: [],
  state: {
    ...FIRST_TEXT,
    matrix: IDENTITY,
    mode: 0,
    fill: "#000000",
    stroke: "#000000",
    alpha: 1,
    isBlended: false,
    isMasked: false,
    clip: page.view,
    isMoved: false,
    hasPainted: false,
  },
  pen: penAt(IDENTITY),
  pictures: 0,
  order: 0,
  lastRun: 0,
  isClipping: false,
});

/** Handlers by the name of the operation in pdf.js, each with the arguments of pdf.js. */
const OPERATORS: Readonly<Record<string, (canvas: Canvas, ...args: never[]) => void>> = {
  save: store,
  restore,
  transform: (canvas, ...by: Matrix) => {
    set(canvas, { matrix: multiply(canvas.state.matrix, by), isMoved: true });
  },
  setGState: setStates,
  paintFormXObjectBegin: beginForm,
  paintFormXObjectEnd: restore,
  beginMarkedContent: ({ layers }) => void layers.push(true),
  beginMarkedContentProps: ({ layers, page }, tag: unknown, layer: unknown) =>
    void layers.push(tag !== "OC" || page.isShown(layer)),
  endMarkedContent: ({ layers }) => void layers.pop(),

  setFillRGBColor: setter((fill: string) => ({ fill })),
  setFillColorN: setter(() => ({ fill: null })),
  setFillTransparent: setter(() => ({ fill: null })),
  setStrokeRGBColor: setter((stroke: string) => ({ stroke })),
  setStrokeColorN: setter(() => ({ stroke: null })),

  setFont,
  setCharSpacing: setter((charSpacing: number) => ({ charSpacing })),
  setWordSpacing: setter((wordSpacing: number) => ({ wordSpacing })),
  setHScale: setter((percent: number) => ({ scale: percent / 100 })),
  setLeading: setter((leading: number) => ({ leading: -leading })),
  setTextRise: setter((rise: number) => ({ rise })),
  setTextRenderingMode: setter((mode: number) => ({ mode })),

  beginText: (canvas) => void (canvas.pen = penAt(IDENTITY)),
  setTextMatrix: (canvas, matrix: Matrix) => void (canvas.pen = penAt(matrix)),
  moveText,
  setLeadingMoveText: (canvas, byX: number, byY: number) => {
    set(canvas, { leading: byY });
    moveText(canvas, byX, byY);
  },
  nextLine: (canvas) => {
    moveText(canvas, 0, canvas.state.leading);
  },
  showText,

  clip: (canvas) => void (canvas.isClipping = true),
  eoClip: (canvas) => void (canvas.isClipping = true),
  constructPath: drawPath,
  shadingFill: (canvas) => {
    paint(canvas);
    canvas.grounds.addPicture(canvas.state.clip, canvas.order);
  },
};

function set(canvas: Canvas, changed: Partial<State>): void {
  canvas.state = { ...canvas.state, ...changed };
}

function setter<Args extends readonly unknown[]>(change: (...args: Args) => Partial<State>) {
  return (canvas: Canvas, ...args: Args): void => {
    set(canvas, change(...args));
  };
}

function setStates(canvas: Canvas, states: readonly (readonly [string, unknown])[]): void {
  for (const [name, value] of states) {
    if (name === "ca") set(canvas, { alpha: Number(value) });
    if (name === "BM") set(canvas, { isBlended: value !== "source-over" });
    if (name === "SMask") set(canvas, { isMasked: value !== false && value !== null });
    if (name === "Font") setFont(canvas, ...(value as [string, number]));
  }
}

function setFont(canvas: Canvas, id: string, fontSize: number): void {
  const font = canvas.fonts.get(id) ?? factsOf(canvas.page.fontOf(id));
  canvas.fonts.set(id, font);
  set(canvas, { font, fontSize });
}

function store(canvas: Canvas): void {
  canvas.stored.push(canvas.state);
  set(canvas, { isMoved: false, hasPainted: false });
}

function restore(canvas: Canvas): void {
  addUnpainted(canvas);
  const { hasPainted } = canvas.state;
  canvas.state = canvas.stored.pop() ?? canvas.state;
  if (hasPainted) set(canvas, { hasPainted });
}

function beginForm(canvas: Canvas, matrix: Matrix | null, box: Box | null): void {
  store(canvas);
  if (matrix) set(canvas, { matrix: multiply(canvas.state.matrix, matrix) });
  const { state } = canvas;
  if (box) set(canvas, { clip: intersect(state.clip, boxOf(state.matrix, box)) });
}

function paint(canvas: Canvas): void {
  canvas.order += 1;
  if (!canvas.state.hasPainted) set(canvas, { hasPainted: true });
}

/** Points; a smaller picture is an ornament. */
const PICTURE_SIDE = 24;
const UNIT: Box = [0, 0, 1, 1];

/** Adds a picture that pdf.js left out (`maxImageSize: 0`): the page was moved for it, and nothing was painted. */
function addUnpainted(canvas: Canvas): void {
  const { state, grounds, order } = canvas;
  if (!state.isMoved || state.hasPainted) return;
  const box = intersect(boxOf(state.matrix, UNIT), state.clip);
  if (Math.min(box[2] - box[0], box[3] - box[1]) < PICTURE_SIDE) return;
  set(canvas, { hasPainted: true });
  grounds.addPicture(box, order);
  canvas.pictures += 1;
}

/** Moves the pen from the start of its line to the start of another line. */
function moveText({ pen }: Canvas, byX: number, byY: number): void {
  pen.x = pen.lineX += byX;
  pen.y = pen.lineY += byY;
}

function showText(canvas: Canvas, glyphs: readonly (DrawnGlyph | number | null)[]): void {
  paint(canvas);
  const { state, pen, order, lastRun } = canvas;
  const level = levelOf(state, multiply(state.matrix, pen.matrix));
  const run = {
    level,
    text: state,
    clip: state.clip,
    colour: colourOf(state),
    order,
    look: lookOf(canvas, level.size),
    opens: lastRun > 1 && glyphs.length > 1,
  };
  for (const glyph of placeRun(glyphs, run, pen)) canvas.placed.push(glyph);
  canvas.lastRun = glyphs.length;
}

const INVISIBLE = 3;
/** Points; smaller text is not readable. */
const SMALLEST = 1;
const FAINTEST = 0.05;

function lookOf({ state, layers }: Canvas, size: number): Run["look"] {
  const isSeen = size >= SMALLEST && state.alpha >= FAINTEST && !layers.includes(false);
  if (!isSeen) return "hidden";
  return state.mode === INVISIBLE ? "unpainted" : "shown";
}

/** The colour of words; null if their outline and their inside have different colours. */
function colourOf({ mode, fill, stroke }: State): string | null {
  const kind = mode % 4;
  if (kind === 1) return stroke;
  return kind === 2 && fill !== stroke ? null : fill;
}

/** @param extent of the path, before the matrix is applied */
function drawPath(
  canvas: Canvas,
  operation: number,
  [path]: readonly [ArrayLike<number> | null],
  extent: Float32Array | null,
): void {
  if (canvas.isClipping) clipTo(canvas, extent ?? new Float32Array());
  const name = canvas.page.names[operation] ?? "";
  const [isFilled, isStroked] = [/fill/iu.test(name), /stroke/iu.test(name)];
  if (!isFilled && !isStroked) return;
  paint(canvas);
  const { state, grounds, order, rules } = canvas;
  const isFull = !state.isBlended && !state.isMasked && state.alpha > 1 - FAINTEST;
  for (const { box, edges, isRectangle } of shapesOf(state.matrix, path ?? [])) {
    if (isFilled) {
      const isOpaque = isFull && isRectangle;
      grounds.addFill(intersect(box, state.clip), { colour: state.fill, isOpaque, order });
    }
    for (const line of [...(isFilled ? [box] : []), ...(isStroked ? edges : [])]) {
      const rule = ruleOf(line);
      if (rule !== undefined) rules.push(rule);
    }
  }
}

function clipTo(canvas: Canvas, extent: Float32Array): void {
  canvas.isClipping = false;
  const [left = 0, bottom = 0, right = 0, top = 0] = extent;
  const { matrix, clip } = canvas.state;
  const box = boxOf(matrix, [left, bottom, right, top]);
  if (box.every(Number.isFinite)) set(canvas, { clip: intersect(clip, box) });
}
