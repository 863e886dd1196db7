import type { EmbedderPlace } from "../../src/worker/embedders/embedder.ts";
import { OPEN_ACCESS } from "../../src/worker/models/host-access.ts";
import { IN_ORDER } from "../../src/worker/models/host-models.ts";

/** Hosts that ask for no key, of which nothing is known yet. */
export const placeOfHosts = (
  hosts: EmbedderPlace["hosts"],
): Pick<EmbedderPlace, "hosts" | "accessOf" | "choice"> => ({
  hosts,
  accessOf: () => OPEN_ACCESS,
  choice: IN_ORDER,
});
