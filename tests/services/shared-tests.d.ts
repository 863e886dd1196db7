export function sharesModules(path: string): boolean;
