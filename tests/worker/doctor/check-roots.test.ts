import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { makeScratch, packageRoot } from "../../shared/config/scratch.ts";
import type { Scratch } from "../../shared/config/scratch.ts";
import { checkRoots } from "../../../src/worker/doctor/check-installation.ts";

let scratch: Scratch;
beforeAll(async () => {
  scratch = await makeScratch();
});
afterAll(() => scratch.remove());

test("the folder of a mirror may be missing before its first sync, and no other's, nor may a file stand there", async () => {
  const place = "from: webdav, remote: { url: 'https://h.net/b' }";
  await scratch.write(
    "nightdesk.yaml",
    `extends: ${packageRoot}/configs/embedded.yaml
index:
  sources:
    - { name: mirror, root: allowed/mirror, ${place} }
    - { name: taken, root: allowed/taken, ${place} }
    - { name: notes, root: allowed/notes }
`,
  );
  await scratch.write("allowed/taken", "a file");
  const config = await scratch.load();
  await mkdir(join(config.roots.databaseDirectory, "pgdata"), { recursive: true });
  const checks = await checkRoots(config);
  const codes = checks.map(({ code }) => code).filter((code) => code.startsWith("DOCTOR_SOURCE"));
  expect(codes).toEqual([
    "DOCTOR_SOURCE_OK",
    "DOCTOR_SOURCE_ROOT_MISSING",
    "DOCTOR_SOURCE_ROOT_MISSING",
  ]);
});
