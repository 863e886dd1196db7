/**
 * The lines in which two texts differ, by longest common subsequence, with `-` and `+` and their line numbers.
 * @param {string} before
 * @param {string} after
 * @returns {string[]} empty when the texts are equal
 */
export function diffLines(before, after) {
  const [left, right] = [before.split("\n"), after.split("\n")];
  const common = commonLengths(left, right);
  const changes = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      i += 1;
      j += 1;
    } else if (j >= right.length || (i < left.length && common[i + 1][j] >= common[i][j + 1])) {
      changes.push(`- ${i + 1}: ${left[i]}`);
      i += 1;
    } else {
      changes.push(`+ ${j + 1}: ${right[j]}`);
      j += 1;
    }
  }
  return changes;
}

/** `lengths[i][j]`: how many lines `left` from i on and `right` from j on have in common, in order. */
function commonLengths(left, right) {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint32Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      lengths[i][j] =
        left[i] === right[j]
          ? lengths[i + 1][j + 1] + 1
          : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}
