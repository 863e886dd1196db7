import type { KeptListing } from "./keep-listing.ts";
import type { PinnedRoot } from "./pinned-root.ts";
import type { SecurityPolicy } from "./policy.ts";
import type { Ground } from "./visit-file.ts";

/** What looking up a path needs. */
export type Search = {
  readonly policy: SecurityPolicy;
  readonly ground: Ground;
  readonly roots: readonly PinnedRoot[];
  readonly listing: KeptListing;
  /** The whole file system as one root, for `allow_any_path`. */
  readonly anywhere: { readonly root: PinnedRoot; readonly ground: Ground } | null;
};
