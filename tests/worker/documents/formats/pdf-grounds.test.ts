import { expect, test } from "@jest/globals";
import { openGrounds } from "../../../../src/worker/documents/formats/pdf-grounds.ts";
import type { Box } from "../../../../src/worker/documents/formats/pdf-shapes.ts";
import { timeTaken } from "../../../support/time-taken.ts";

/** Numbers below one that look as if nobody had chosen them. */
const spread = (seed: number): number => (Math.sin(seed) * 10_000) % 1;

const PICTURES = Array.from({ length: 1_500 }, (_, at): Box => {
  const [left, bottom] = [spread(at) * 600, spread(at + 0.5) * 800];
  return [left, bottom, left + 24 + spread(at + 0.3) ** 8 * 500, bottom + 24];
});
const LETTERS = Array.from({ length: 12_000 }, (_, at) => ({
  middleX: at % 9 === 0 ? Math.floor(spread(at + 0.1) * 30) * 24 : spread(at + 0.1) * 700,
  middleY: spread(at + 0.2) * 900,
  since: at % 3 === 0 ? 0 : at % PICTURES.length,
}));

test("the picture that was first painted over a letter is found, in a fraction of a look at each", () => {
  const grounds = openGrounds();
  PICTURES.forEach((box, order) => {
    grounds.addPicture(box, order);
  });
  const lookAtEach = () =>
    LETTERS.map(({ middleX: x, middleY: y, since }) => {
      const at = PICTURES.findIndex(
        ([left, bottom, right, top], order) =>
          order >= since && x > left && x < right && y > bottom && y < top,
      );
      return at === -1 ? undefined : at;
    });
  const lookUp = () => LETTERS.map((letter) => grounds.pictureAt(letter, letter.since)?.order);
  expect(lookUp()).toEqual(lookAtEach());
  expect(lookUp().filter((order) => order !== undefined).length).toBeGreaterThan(2_000);
  expect(timeTaken(lookUp)).toBeLessThan(timeTaken(lookAtEach) / 3);
});
