import { stat } from "node:fs/promises";
import { posix } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { policyOf } from "../settings.ts";
import { openSandbox } from "../sandbox/open-sandbox.ts";
import { fail, ok, wordsOf } from "./check.ts";
import type { Check } from "./check.ts";

/** Opens the sandbox as a worker would, without creating anything, and looks at every source's root. */
export async function checkRoots(config: Config): Promise<readonly Check[]> {
  return [
    await checkPolicy(config),
    ...(await Promise.all(config.index.sources.map((source) => checkSource(config, source)))),
  ];
}

async function checkPolicy(config: Config): Promise<Check> {
  try {
    const sandbox = await openSandbox({ ...policyOf(config), autoCreateAllowedRoots: false });
    const { roots, skipped } = sandbox;
    sandbox.close();
    const [missing] = skipped;
    return missing === undefined
      ? ok(
          "DOCTOR_SECURITY_POLICY_OK",
          `Allowed below ${config.roots.workroot}: ${roots.length === 1 ? "1 folder" : `${roots.length} folders`}.`,
        )
      : fail(
          "DOCTOR_ALLOWED_ROOT_MISSING",
          `The allowed root ${missing.path} is ${missing.reason}.`,
          `Create it, or change security.allowed_roots in ${config.file}.`,
        );
  } catch (error) {
    return fail("DOCTOR_SECURITY_POLICY", wordsOf(error), `Look at security.* in ${config.file}.`);
  }
}

async function checkSource(
  { roots, file }: Config,
  { name, root }: { name: string; root: string },
): Promise<Check> {
  const folder = posix.resolve(roots.workroot, root);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder
    ? ok("DOCTOR_SOURCE_OK", `Source ${name} is the folder ${JSON.stringify(root)}.`)
    : fail(
        "DOCTOR_SOURCE_ROOT_MISSING",
        `The root ${root} of source ${name} is not a folder below ${roots.workroot}.`,
        `Create or mount it, or change index.sources in ${file}.`,
      );
}
