import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import {
  createModelFile,
  openModelFile,
} from "../../../../src/worker/embedders/fetch/model-folder.ts";

const FILE = "onnx/model.onnx";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nightdesk-model-"));
  mkdirSync(join(folder, "models", "org", "name", "onnx"), { recursive: true });
  writeFileSync(join(folder, "models", "org", "name", FILE), "weights");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const model = () => ({ base: join(folder, "models"), below: ["org", "name"] });
/** Puts a link in the place of what lies there, which is outside then. */
function moveOut(path: string): string {
  const outside = join(folder, "outside");
  renameSync(join(folder, "models", path), outside);
  symlinkSync(outside, join(folder, "models", path));
  return outside;
}

test("a file of a model is opened, and none that is a link", async () => {
  const file = await openModelFile(model(), FILE);
  expect(await file?.readFile("utf8")).toBe("weights");
  await file?.close();
  moveOut(join("org", "name", FILE));
  expect(await openModelFile(model(), FILE)).toBeUndefined();
});

test.each(["org", "org/name", dirname(`org/name/${FILE}`)])(
  "nothing is read or written through %s where that is a link",
  async (place) => {
    const before = readdirSync(moveOut(place));
    const refusal = { code: "INPUT_INVALID" };
    await expect(openModelFile(model(), FILE)).rejects.toMatchObject(refusal);
    await expect(createModelFile(model(), FILE)).rejects.toMatchObject(refusal);
    expect(readdirSync(join(folder, "outside"))).toEqual(before);
  },
);
