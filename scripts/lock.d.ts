export function findMismatches(root: string, extent: "runtime" | "full"): string[];
export function holdsDevelopmentPackages(root: string): boolean;
