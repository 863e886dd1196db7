// Swaps what lies at `path` with what lies at `decoy`, there and back, until it is killed.
import { renameSync } from "node:fs";

const [path, decoy] = process.argv.slice(2);
const parked = `${path}.parked`;
process.stdout.write("swapping\n");
for (;;) {
  renameSync(path, parked);
  renameSync(decoy, path);
  renameSync(path, decoy);
  renameSync(parked, path);
}
