import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { readPages } from "../../../bench/ocr-pages/truth.ts";

describe("the scanned pages", () => {
  const pages = readPages(import.meta.dirname);

  test("are twelve, in files of at most 60 KB", () => {
    expect(pages).toHaveLength(12);
    for (const { file } of pages) {
      expect(statSync(join(import.meta.dirname, file)).size).toBeLessThanOrEqual(60_000);
    }
  });

  test("hold each figure in their text and within the picture", () => {
    for (const { id, width, height, figures, text } of pages) {
      const outside = figures.filter(
        ({ text: figure, box: [left, top, right, bottom] }) =>
          !text.includes(figure) || left < 0 || top < 0 || right > width || bottom > height,
      );
      expect({ id, outside }).toEqual({ id, outside: [] });
    }
  });
});
