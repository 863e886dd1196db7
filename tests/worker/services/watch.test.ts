import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import pino from "pino";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import { watchService } from "../../../src/worker/services/watch.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";

const packageRoot = resolve(import.meta.dirname, "../../..");
const CONFIG = `
extends: ${join(packageRoot, "configs", "embedded.yaml")}
security: { allowed_roots: [late, here], allowed_exts: [.md], auto_create_allowed_roots: false }
index:
  sources:
    - { name: late, root: late, watch: { every_s: 1, rest_s: 1, rules: [] } }
    - { name: here, root: here, watch: { every_s: 1, rest_s: 1, rules: [] } }
`;

describeOnPostgres("the service of watched folders", () => {
  test("looks at a folder although the root of the one before came after the start", async () => {
    const { db, close } = await openPostgres();
    const workroot = mkdtempSync(join(tmpdir(), "nightdesk-watches-"));
    const write = (path: string) => {
      writeFileSync(join(workroot, path), path);
    };
    mkdirSync(join(workroot, "here"));
    write("here/a.md");
    writeFileSync(join(workroot, "nightdesk.yaml"), CONFIG);
    const config = await loadConfig({ flags: {}, env: {}, cwd: workroot, packageRoot });
    const { run } = watchService({ config, database: db, logger: pino({ level: "silent" }) });
    const controls = { stopping: new AbortController().signal, wake: () => undefined };
    await run(controls);
    mkdirSync(join(workroot, "late"));
    for (const path of ["late/b.md", "here/c.md"]) write(path);
    await setTimeout(1_200);
    await expect(run(controls)).rejects.toMatchObject({
      code: "CONFIG_ERROR",
      message: expect.stringContaining("was not there when this process started"),
    });
    const { rows } = await db.query("select path from nightdesk_data.watched_files order by path");
    expect(rows).toEqual([{ path: "here/a.md" }, { path: "here/c.md" }]);
    rmSync(workroot, { recursive: true });
    await close();
  });
});
