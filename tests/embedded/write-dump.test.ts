import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "@jest/globals";

const ROOT = resolve(import.meta.dirname, "..", "..");
const WRITE_DUMP = `
  const { writeDump } = await import(${JSON.stringify(pathToFileURL(join(ROOT, "src/embedded/open-database.ts")).href)});
  const [data, file, existing] = process.argv.slice(1);
  await writeDump(data, file, existing);`;
/** The calls by which a file comes to be on disk and under its name. */
const CALLS = "fsync,fdatasync,rename,renameat,renameat2,link,linkat";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nightdesk-dump-"));
  mkdirSync(join(folder, "pgdata"));
  writeFileSync(join(folder, "pgdata", "PG_VERSION"), "17\n");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** What a traced process asked of the system, in order: `flush dump`, `place dump`, `flush folder`. */
function callsOf(trace: string): readonly string[] {
  const others = trace.split("\n").flatMap((line) => {
    if (/ (?:rename|link)(?:at2?)?\(.*"[^"]*\/evening\.tar\.gz"/.test(line)) return ["place dump"];
    if (/ f(?:data)?sync\(\d+<[^>]*\.partial>/.test(line)) return ["flush dump"];
    return line.includes(`sync(`) && line.includes(`<${folder}>`) ? ["flush folder"] : [];
  });
  return others;
}

const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;
const traced = canTrace ? test.each : test.skip.each;

traced(["keep", "replace"])(
  "a dump is on disk before it has its name, and its name before the command ends (%s; needs strace, and the right to trace)",
  (existing) => {
    const trace = join(folder, "trace");
    const target = join(folder, "evening.tar.gz");
    const { status, stderr } = spawnSync(
      "strace",
      [
        ...["-f", "-y", "-qq", "-e", `trace=${CALLS}`, "-o", trace, process.execPath],
        ...["--import", join(ROOT, "bench", "register.js"), "--input-type=module"],
        ...["-e", WRITE_DUMP, join(folder, "pgdata"), target, existing],
      ],
      { encoding: "utf8" },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(callsOf(readFileSync(trace, "utf8"))).toEqual([
      "flush dump",
      "place dump",
      "flush folder",
    ]);
  },
);
