import { renameSync, symlinkSync } from "node:fs";
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import { storeFile } from "../../../src/producer/commands/put.ts";

const packageRoot = fileURLToPath(new URL("../../../", import.meta.url));

describe("a file that is put into a watched folder", () => {
  let workroot: string;
  let config: Awaited<ReturnType<typeof loadConfig>>;
  beforeEach(async () => {
    workroot = await mkdtemp(join(tmpdir(), "nightdesk-put-"));
    await mkdir(join(workroot, "allowed/inbox"), { recursive: true });
    const lines = [
      "extends: nightdesk:default",
      "index: { sources: [{ name: corpus, root: allowed/corpus }, { name: inbox, root: allowed/inbox, watch: {} }] }",
      "security: { max_file_bytes: 1000 }",
    ];
    await writeFile(join(workroot, "nightdesk.yaml"), lines.join("\n"));
    config = await loadConfig({ flags: {}, env: {}, cwd: workroot, packageRoot });
  });
  afterEach(() => rm(workroot, { recursive: true, force: true }));

  const inbox = (...names: readonly string[]): string => join(workroot, "allowed/inbox", ...names);
  const put = (name: string, text: string | readonly string[] = "text", bytes?: number) =>
    storeFile(
      config,
      { watch: "inbox", name, bytes },
      Readable.from([text].flat().map((part) => Buffer.from(part))),
    );

  test("lies there whole, for its owner alone, and nothing beside it", async () => {
    const stored = await put("Brief an die Stadt.md", ["one, ", "two"], 8);
    expect(stored).toEqual({
      kind: "stored",
      path: "allowed/inbox/Brief an die Stadt.md",
      bytes: 8,
    });
    expect(await readFile(inbox("Brief an die Stadt.md"), "utf8")).toBe("one, two");
    expect((await lstat(inbox("Brief an die Stadt.md"))).mode & 0o777).toBe(0o600);
    expect(await readdir(inbox())).toHaveLength(1);
  });

  test.each([
    ...[
      "../a.md",
      "..",
      "a/b.md",
      "a\\b.md",
      "/etc/a.md",
      ".a.md",
      "",
      " a.md",
      "a.md ",
      "a\0.md",
      "a\n.md",
    ],
    ...[
      "a\u202egnp.md",
      "\ud800.md",
      "a\u2028.md",
      `${"x".repeat(198)}.md`,
      `${"é".repeat(99)}.md`,
    ],
    ...["a.exe", "a", "md", "a.md.exe", ".nightdeskignore"],
  ])("is not stored under the name %j", async (name) => {
    await expect(put(name)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(await readdir(inbox())).toEqual([]);
    expect(await readdir(join(workroot, "allowed"))).toEqual(["inbox"]);
  });

  test("is not stored when it was cut, or is too large, or its sender breaks off", async () => {
    await expect(put("a.md", "1234", 5)).rejects.toThrow("was cut: 4 of 5 bytes came");
    await expect(put("a.md", "12345", 4)).rejects.toThrow("was cut");
    await expect(put("a.md", ["x".repeat(900), "y".repeat(101)])).rejects.toThrow(
      "larger than 1,000",
    );
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from("begun");
        throw new Error("reset");
      })(),
    );
    await expect(storeFile(config, { watch: "inbox", name: "a.md" }, broken)).rejects.toThrow(
      "reset",
    );
    expect(await readdir(inbox())).toEqual([]);
  });

  test("never takes the place of another one, also of ten at once", async () => {
    await put("there.md", "first");
    await expect(put("there.md", "second")).rejects.toThrow("is there already");
    await writeFile(join(workroot, "secret.md"), "secret");
    await symlink(join(workroot, "secret.md"), inbox("link.md"));
    await expect(put("link.md", "over it")).rejects.toThrow("is there already");
    const tries = Array.from({ length: 10 }, (_, at) => put("race.md", `by ${at}`));
    const ended = await Promise.allSettled(tries);
    const won = ended.flatMap(({ status }, at) => (status === "fulfilled" ? [at] : []));
    expect(won).toHaveLength(1);
    expect(await readFile(inbox("race.md"), "utf8")).toBe(`by ${won[0] ?? ""}`);
    expect(await readFile(inbox("there.md"), "utf8")).toBe("first");
    expect(await readFile(join(workroot, "secret.md"), "utf8")).toBe("secret");
    expect((await readdir(inbox())).sort()).toEqual(["link.md", "race.md", "there.md"]);
  });

  test("is refused where a link stands in the path of the folder, or no folder is there", async () => {
    await rm(inbox(), { recursive: true });
    await expect(put("a.md")).rejects.toThrow("does not exist");
    await mkdir(join(workroot, "elsewhere"));
    await symlink(join(workroot, "elsewhere"), inbox());
    expect(await put("a.md")).toMatchObject({ kind: "refused", code: "PATH_DENIED" });
    expect(await readdir(join(workroot, "elsewhere"))).toEqual([]);
  });

  test("goes into the folder that was found, whatever takes its name meanwhile", async () => {
    const [moved, outside] = [join(workroot, "moved"), join(workroot, "outside")];
    await mkdir(outside);
    const security = {
      ...config.security,
      // Read when the folder is open, and before the file is begun.
      get max_file_bytes() {
        renameSync(inbox(), moved);
        symlinkSync(outside, inbox());
        return 1_000;
      },
    };
    await storeFile({ ...config, security }, { watch: "inbox", name: "a.md" }, Readable.from([]));
    expect(await readdir(moved)).toEqual(["a.md"]);
    expect(await readdir(outside)).toEqual([]);
  });

  test("is refused where the folder holds a thousand files, or a billion bytes", async () => {
    await writeFile(inbox("large.md"), "");
    await truncate(inbox("large.md"), 999_999_999);
    await expect(put("two.md", "12")).rejects.toThrow("allowed/inbox has room for 1 byte alone");
    expect(await put("one.md", "1")).toMatchObject({ bytes: 1 });
    await expect(put("more.md", "1")).rejects.toThrow("allowed/inbox is full");
    await truncate(inbox("large.md"), 0);
    await Promise.all(Array.from({ length: 998 }, (_, at) => writeFile(inbox(`${at}.md`), "")));
    await expect(put("more.md", "1")).rejects.toThrow("takes 1,000 files");
  });

  test("goes into sources that are watched alone", async () => {
    for (const watch of ["corpus", "nothing", "", "../inbox"]) {
      const stored = storeFile(config, { watch, name: "a.md" }, Readable.from([]));
      await expect(stored).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
  });
});
