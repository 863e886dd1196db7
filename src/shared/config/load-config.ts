import { checkAcrossKeys } from "./check-across-keys.ts";
import { chooseConfigFile } from "./choose-config-file.ts";
import type { ConfigRequest } from "./choose-config-file.ts";
import { chooseRoots } from "./choose-roots.ts";
import { originsOf, overlay } from "./config-tree.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { readConfigChain } from "./read-config-chain.ts";
import { readOverrides } from "./read-overrides.ts";
import type { Config } from "./schema.ts";
import { validateValues } from "./validate-values.ts";

/**
 * The one configuration of a process: files, then environment, then flags, checked and deeply frozen. The model
 * host is not checked here but by model-base-url.ts, when it is needed.
 *
 * @throws Failure CONFIG_ERROR; a line for each problem, with where it was written, the key, what was found and
 * what was expected, and never a password
 */
export async function loadConfig(request: ConfigRequest): Promise<Config> {
  const chosen = chooseConfigFile(request);
  const written = await readConfigChain(chosen, request);
  const tree = overlay(written, await readOverrides(request));
  const values = validateValues(tree);
  const roots = chooseRoots({ values, tree, chosen }, request);
  checkAcrossKeys(values, tree, roots.workroot);
  return deepFreeze({
    ...values,
    file: chosen.file,
    chosen: chosen.how,
    roots,
    origins: originsOf(tree),
  });
}
