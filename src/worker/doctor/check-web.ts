import { findKeyFault } from "../../shared/config/search-key.ts";
import type { Config } from "../../shared/config/schema.ts";
import { WEB_TOOLS } from "../../shared/config/tool-presets.ts";
import { fail } from "./check.ts";
import type { Check } from "./check.ts";

/** Whether searches of the web have a key, where they are switched on; the provider is not asked. */
export async function checkWeb(
  config: Pick<Config, "tools" | "roots">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Check[]> {
  const fault = await findKeyFault(config, env);
  if (fault === undefined) return [];
  return [
    fail(
      "DOCTOR_WEB_SEARCH_KEY",
      `${WEB_TOOLS.search} can't be used: ${fault}`,
      "Give the key to doctor and to the workers alike: tools.web.search.key_file or key_env.",
    ),
  ];
}
