import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../conformance/signal.ts";

/** Waits until each worker that a command started in a folder has ended: one that has not would start the database again. */
export const workersEnded = (folder: string): Promise<void> =>
  eventually("the workers have ended", async () => {
    const log = await readFile(join(folder, ".nightdesk", "worker.log"), "utf8");
    return log.split("worker ready").length === log.split("worker stopped").length;
  });
