import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { PixelBox } from "../../src/shared/pages/page-record.ts";
import { CARRIERS } from "./carriers.ts";
import type { Scan } from "./carriers.ts";
import type { Sheet } from "./layouts.ts";
import type { Plan } from "./plan.ts";
import type { Figure } from "./truth.ts";

export type Drawn = {
  readonly scan: Scan;
  readonly figures: readonly Figure[];
  readonly text: string;
};

const script = readFileSync(join(import.meta.dirname, "in-browser.js"), "utf8");

export const sizeOf = (sheet: Sheet, { dpi: [across, down] }: Plan): [number, number] => [
  Math.round((sheet.width * across) / 96),
  Math.round((sheet.height * down) / 96),
];

/** A sheet as the scanner gives it. */
export async function drawPage(page: Page, sheet: Sheet, plan: Plan): Promise<Drawn> {
  const looked = await look(page, sheet, plan);
  const shot = await page.screenshot({ type: "png" });
  const [width, height] = sizeOf(sheet, plan);
  const order = {
    ...{ picture: `data:image/png;base64,${shot.toString("base64")}`, width, height },
    paper: { width: sheet.width, height: sheet.height },
    ...{ skew: plan.skew, blur: plan.blur, noise: plan.noise, seed: plan.seed, turn: plan.turn },
    ...{ form: CARRIERS[plan.carrier].form, quality: plan.quality },
  };
  const given = await page.evaluate<{ wide: number; high: number; data: string }>(
    `scan(${JSON.stringify(order)})`,
  );
  const [across, down] = plan.dpi;
  const dpi = plan.turn % 180 === 0 ? ([across, down] as const) : ([down, across] as const);
  return { ...looked, scan: { ...given, data: Buffer.from(given.data, "base64"), dpi } };
}

/** A PDF of a picture with the sheet's text as text below it. */
export async function printBelow(
  page: Page,
  { scan, figures, text }: Drawn,
  sheet: Sheet,
  plan: Plan,
): Promise<Drawn> {
  const [dpi] = plan.dpi;
  const source = `data:image/jpeg;base64,${scan.data.toString("base64")}`;
  const image = `<img style="display:block" width="${(scan.wide * 96) / dpi}" src="${source}">`;
  const html = sheet.html.replace("<body>", `<body>${image}`);
  const below = await look(page, { ...sheet, html }, plan);
  const [x, y] = await page.evaluate<[number, number]>(
    "(({ x, y }) => [x, y])(document.images[0].getBoundingClientRect())",
  );
  const moved = figures.map(({ box: [left, top, right, bottom], ...figure }) => {
    const [over, down] = [Math.round((x * dpi) / 96), Math.round((y * dpi) / 96)];
    return { ...figure, box: [left + over, top + down, right + over, bottom + down] as const };
  });
  const paper = { width: `${sheet.width}px`, height: `${sheet.height}px` };
  return {
    scan: { ...scan, data: await page.pdf({ ...paper, printBackground: true }) },
    text: `${text}\n${below.text}`,
    figures: [...moved, ...below.figures],
  };
}

async function look(page: Page, sheet: Sheet, plan: Plan): Promise<Omit<Drawn, "scan">> {
  await page.setContent(sheet.html);
  await page.evaluate(`${script}; fit()`);
  const found =
    await page.evaluate<readonly { text: string; box: PixelBox; glued: boolean }[]>(
      "findFigures()",
    );
  const text = await page.evaluate<string>("document.body.innerText");
  return {
    text: text.replaceAll("\u00A0", " "),
    figures: found.map(({ text: figure, box, glued }) => ({
      text: figure,
      box: lean(box, sheet, plan),
      ...(glued ? { glued } : {}),
    })),
  };
}

/** The box around a box of the drawn page, after it was laid askew on the glass. */
function lean([left, top, right, bottom]: PixelBox, sheet: Sheet, plan: Plan): PixelBox {
  const [width, height] = sizeOf(sheet, plan);
  const [x, y] = [sheet.width / 2, sheet.height / 2];
  const angle = (plan.skew * Math.PI) / 180;
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const corners = [left, right].flatMap((a) => [top, bottom].map((b) => [a - x, b - y] as const));
  const across = corners.map(([a, b]) => ((x + a * cos - b * sin) * width) / sheet.width);
  const down = corners.map(([a, b]) => ((y + a * sin + b * cos) * height) / sheet.height);
  const [most, least] = [Math.max, Math.min];
  return [
    ...[Math.round(least(...across)), Math.round(least(...down))],
    ...[Math.round(most(...across)), Math.round(most(...down))],
  ] as unknown as PixelBox;
}
