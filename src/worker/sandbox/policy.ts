/**
 * The `security` slice of the configuration, with an absolute security root.
 *
 * One order of checks decides every read; the first that applies gives the code:
 *
 * | # | what is wrong                                                             | code              |
 * |---|---------------------------------------------------------------------------|-------------------|
 * | 1 | `path` is no string or blank; `max_chars` is no integer in 200…10,000,000| INVALID_ARGS      |
 * | 2 | control character, lone surrogate, backslash, `~`, `X:`, `//`, absolute   | PATH_DENIED       |
 * | 3 | `..` climbs out of the security root; no allowed root, or not the job's folder| PATH_DENIED      |
 * | 4 | extension not allowed, whether or not the file exists                     | PATH_DENIED       |
 * | 5 | a hidden file or folder below the root                                    | PATH_DENIED       |
 * | 6 | a name, or a path below an allowed root, that fits several files          | AMBIGUOUS_PATH    |
 * | 7 | missing; dangling link, link loop; a name too long for a file to bear     | FILE_NOT_FOUND    |
 * | 8 | a folder on the way may not be searched                                   | FILE_READ_ERROR   |
 * | 9 | the root is no longer the folder that was pinned at start                 | PATH_DENIED       |
 * |10 | the real path lies outside the same root or the job's folder, or on another device | PATH_DENIED |
 * |11 | a directory                                                               | PATH_IS_DIRECTORY |
 * |12 | rules 2 (characters), 4 and 5, now on the real path                       | PATH_DENIED       |
 * |13 | FIFO, socket, device                                                      | FILE_READ_ERROR   |
 * |14 | more than one hard link, unless `security.allow_hard_links`               | PATH_DENIED       |
 * |15 | permission denied, input/output error                                     | FILE_READ_ERROR   |
 * |16 | more bytes than `security.max_file_bytes`                                 | FILE_TOO_LARGE    |
 * |17 | as text: neither UTF-8, UTF-16 nor Windows-1252                           | FILE_READ_ERROR   |
 *
 * A path with a `/` is looked up from the work root first. Only if nothing is there, and the path is neither absolute nor
 * leaves the root, it is looked up below each allowed root; a file found there has passed 4, 5 and 9 to 14 like any other.
 *
 * `allow_any_path` lifts 3 to 5, 10, 12 and the ban on absolute paths for a path with a `/`; a bare name is
 * still looked up below the allowed roots.
 */
export type SecurityPolicy = {
  /** Absolute. Sub-paths are looked up from here first, and every path is reported relative to it. */
  readonly securityRoot: string;
  /** Absolute or relative to the security root. */
  readonly allowedRoots: readonly string[];
  /** Lower case, with the dot. */
  readonly allowedExts: readonly string[];
  readonly denyAbsolutePaths: boolean;
  readonly denyHiddenPaths: boolean;
  readonly allowAnyPath: boolean;
  readonly autoCreateAllowedRoots: boolean;
  readonly rootsMustBeWithinSecurityRoot: boolean;
  readonly maxFileBytes: number;
  readonly allowHardLinks: boolean;
  readonly allowRacyReads: boolean;
};

/** Rules for an opened file, whatever name led to it. */
export type FileRules = {
  /** Its path from the security root must begin with one of these: a job's restriction. Empty: any path. */
  readonly pathPrefixes: readonly string[];
  /** `any` for `allow_any_path`. */
  readonly extensions: ReadonlySet<string> | "any";
  readonly hidden: "deny" | "allow";
  readonly otherDevices: "deny" | "allow";
  readonly hardLinks: "deny" | "allow";
  readonly maxBytes: number;
};

export const mayBegin = (path: string, pathPrefixes: readonly string[]): boolean =>
  pathPrefixes.length === 0 || pathPrefixes.some((prefix) => path.startsWith(prefix));

/** The rules for files below the allowed roots. */
export function rulesBelowRoots(policy: SecurityPolicy): FileRules {
  return {
    pathPrefixes: [],
    extensions: new Set(policy.allowedExts),
    hidden: policy.denyHiddenPaths ? "deny" : "allow",
    otherDevices: "deny",
    hardLinks: policy.allowHardLinks ? "allow" : "deny",
    maxBytes: policy.maxFileBytes,
  };
}

/** The rules that `allow_any_path` leaves for a path outside the allowed roots. */
export function rulesForAnyPath(policy: SecurityPolicy): FileRules {
  return {
    ...rulesBelowRoots(policy),
    extensions: "any",
    hidden: "allow",
    otherDevices: "allow",
  };
}
