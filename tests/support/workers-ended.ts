import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { stopEmbedded } from "../../src/shared/store/embedded/embedded-process.ts";
import { eventually } from "../conformance/signal.ts";

/** Waits until each worker that a command started in a folder has ended: one that has not would start the database again. */
export const workersEnded = (folder: string): Promise<void> =>
  eventually("the workers have ended", async () => {
    const log = await readFile(join(folder, ".nightdesk", "worker.log"), "utf8").catch(() => "");
    return log.split("worker ready").length === log.split("worker stopped").length;
  });

/** Removes a folder that commands worked in, once nobody writes there any more. */
export async function removeDesk(folder: string): Promise<void> {
  await workersEnded(folder);
  await stopEmbedded(join(folder, ".nightdesk"));
  await rm(folder, { recursive: true, force: true });
}
