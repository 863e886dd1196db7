export function findMismatches(root: string): string[];
export function holdsOptionalPackages(root: string): boolean;
