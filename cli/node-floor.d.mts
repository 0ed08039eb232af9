export declare function nodeProblem(floor: string, version: string): string | undefined;
