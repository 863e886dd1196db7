import type { SecurityPolicy } from "../../src/worker/sandbox/policy.ts";

/** The policy of the default configuration over a folder, with what a test changes. */
export const policyOver = (
  securityRoot: string,
  changes: Pick<SecurityPolicy, "allowedRoots" | "allowedExts"> & Partial<SecurityPolicy>,
): SecurityPolicy => ({
  securityRoot,
  denyAbsolutePaths: true,
  denyHiddenPaths: true,
  allowAnyPath: false,
  autoCreateAllowedRoots: false,
  rootsMustBeWithinSecurityRoot: true,
  maxFileBytes: 1_000_000,
  allowHardLinks: false,
  allowRacyReads: false,
  ...changes,
});
