import { join, resolve } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { topologies } from "../conformance/topologies.ts";
import { start } from "../deploy/spawned.ts";
import type { Spawned } from "../deploy/spawned.ts";
import { startFaultyTopology } from "./faulty-topology.ts";
import type { FaultyTopology } from "./faulty-topology.ts";

const bin = join(resolve(import.meta.dirname, "..", ".."), "bin", "nightdesk.js");
describe.each(topologies)(
  "processes whose server says goodbye as it lets them in, on %s",
  (name) => {
    const closers: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    async function prepare(): Promise<FaultyTopology> {
      const faulty = await startFaultyTopology(name);
      closers.push(() => faulty.dispose());
      return faulty;
    }

    function run({ topology, env }: FaultyTopology, ...words: string[]): Spawned {
      const spawned = start([process.execPath, bin, ...words, "--config", topology.configFile], {
        cwd: topology.workroot,
        env: { PATH: process.env["PATH"] ?? "", ...env },
      });
      closers.push(async () => {
        spawned.kill("SIGKILL");
        await spawned.ended;
      });
      return spawned;
    }

    test("are commands that end with 69", async () => {
      const faulty = await prepare();
      faulty.database.answerFatal({ code: "57P01", message: "terminating connection" });
      const { exitCode, stderr } = await run(faulty, "batch", "list").ended;
      expect(stderr).toMatch("DATABASE_UNREACHABLE");
      expect(exitCode).toBe(69);
    });
  },
);
