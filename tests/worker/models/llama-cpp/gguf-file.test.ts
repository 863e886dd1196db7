import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { sha256Of } from "../../../support/pipeline-world.ts";
import { digestOf } from "../../../../src/worker/embedders/transformers/model-files.ts";
import { findModelFile } from "../../../../src/worker/models/llama-cpp/gguf-file.ts";
import { failureOf } from "../../../support/model-hosts.ts";

const workroot = mkdtempSync(join(tmpdir(), "nightdesk-gguf-"));
afterAll(() => {
  rmSync(workroot, { recursive: true });
});
mkdirSync(join(workroot, "models", "owner", "name"), { recursive: true });
writeFileSync(join(workroot, "models", "owner", "name", "a-q4_k_m.gguf"), "weights");
writeFileSync(join(workroot, "models", "b.gguf"), "others");
writeFileSync(join(workroot, "secret.gguf"), "not below");
const role = { missing: "MODEL_NOT_FOUND" } as const;
const config = { embed: { cache_dir: null }, roots: { workroot } };

describe("the file of a model", () => {
  test.each([
    ["owner/name/a-q4_k_m", "owner/name/a-q4_k_m.gguf"],
    ["b", "b.gguf"],
    ["b.gguf", "b.gguf"],
  ])("is found by its name: %s", async (name, file) => {
    expect(await findModelFile(name, config, role)).toBe(join(workroot, "models", file));
  });

  test.each([["../secret"], ["/etc/passwd"], ["owner/../../secret"], ["owner//name"], [""], ["c"]])(
    "is not found by what is no name, or of no file: %j",
    async (name) => {
      const failure = await failureOf(findModelFile(name, config, role));
      expect(failure.code).toBe("MODEL_NOT_FOUND");
      expect(failure.message).toContain("There are b, owner/name/a-q4_k_m.");
    },
  );

  test("has the digest of its content, also when that was changed", async () => {
    const file = join(workroot, "models", "b.gguf");
    expect(await digestOf(file)).toBe(sha256Of("others"));
    writeFileSync(file, "newer weights");
    expect(await digestOf(file)).toBe(sha256Of("newer weights"));
  });

  test("may be a link to where the weights lie", async () => {
    symlinkSync(join(workroot, "secret.gguf"), join(workroot, "models", "linked.gguf"));
    expect(await findModelFile("linked", config, role)).toContain("linked.gguf");
  });
});
