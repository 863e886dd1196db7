import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readPicture, storePicture } from "../../../src/shared/files/page-pictures.ts";
import type { PagePicture } from "../../../src/shared/files/page-pictures.ts";

const KEY = "ab".repeat(32);
const picture = (bytes: number): PagePicture => ({
  ...{
    kind: "picture",
    type: "image/png",
    page: 1,
    width: 10,
    height: 10,
    boxes: [],
    share: 1,
    times: 1,
  },
  size: { unit: "points", width: 5, height: 5 },
  bytes: Buffer.alloc(bytes, 1),
});

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nightdesk-pages-"));
});
afterAll(() => rm(folder, { recursive: true }));

test("pictures are read by their keys alone", async () => {
  await storePicture(folder, KEY, picture(20));
  expect(await readPicture(folder, KEY)).toEqual(picture(20));
  expect(await readPicture(folder, KEY.replace("a", "c"))).toBeUndefined();
  expect(await readPicture(folder, `../${KEY}`)).toBeUndefined();
});

test("the oldest pictures go beyond the quota", async () => {
  for (const key of ["1", "2", "3", "4"]) {
    await storePicture(folder, key.repeat(64), picture(3_000), 13_000);
  }
  const names = await readdir(folder);
  expect(names.map((name) => name[0]).sort()).toEqual(["2", "3", "4"]);
});
