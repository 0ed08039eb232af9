/** The rooms of the product, with the tests that must notice a change in each. */

export type Room = {
  readonly name: string;
  /** Globs of the files to change. */
  readonly sources: readonly string[];
  /** Globs of the tests that must notice. */
  readonly tests: readonly string[];
  /** Globs of those among them that notice most changes in little time. @default none */
  readonly quick?: readonly string[];
  /** Percent of the mutants that tests must notice. */
  readonly goal: number;
};

/** Which mutants of a room to test, and a folder for what is written meanwhile. */
export type Sample = { readonly count: number; readonly seed: number; readonly folder: string };

/** The guard is a shell script: shell-mutants.ts changes it. Stryker changes the others. */
export const ROOMS: readonly Room[] = [
  { name: 'decision', sources: ['lambda/decision/**/*.ts'], tests: ['test/decision/**/*.test.ts'], goal: 96 },
  {
    name: 'look',
    sources: ['lambda/look/**/*.ts'],
    tests: ['test/look/**/*.test.ts'],
    quick: ['test/look/**/!(*-in-the-world).test.ts'],
    goal: 96,
  },
  {
    name: 'adapters',
    sources: ['lambda/adapters/**/*.ts'],
    tests: ['test/adapters/**/*.test.ts', 'test/look/record/*.test.ts'],
    goal: 96,
  },
  { name: 'guard', sources: ['guard/guard.sh'], tests: ['test/guard/*.test.ts'], goal: 96 },
  { name: 'config', sources: ['lambda/config/**/*.ts'], tests: ['test/config/*.test.ts'], goal: 90 },
  {
    name: 'keys',
    sources: ['lambda/keys/**/*.ts'], // only-writer reads the text of the sources
    tests: ['test/keys/!(only-writer).test.ts'],
    goal: 90,
  },
  {
    name: 'telemetry',
    sources: ['lambda/telemetry/*.ts'],
    tests: [
      'test/look/look-event.test.ts',
      'test/look/waits/*.test.ts',
      'test/decision/report/lost-jobs.test.ts',
      'test/e2e/handler.test.ts',
      'test/infra/public-api/metrics.test.ts',
      // alarms and boards show the statistic of each metric
      'test/infra/watching/{alarms,boards}.test.ts',
    ],
    goal: 90,
  },
  {
    name: 'explain',
    sources: ['lambda/explain/*.ts'],
    // test/explain has the whole sentence of each code
    tests: ['test/explain/*.test.ts', 'test/look/{look-event,plan-text}.test.ts', 'test/cli/brief.test.ts'],
    goal: 90,
  },
  {
    name: 'infra',
    sources: ['infra/**/*.ts'],
    tests: [
      'test/infra/*.test.ts',
      'test/infra/{pool,plain,upgrade}/**/*.test.ts',
      'test/infra/public-api/!(docs).test.ts', // docs reads the text of the sources
      'test/infra/watching/*.test.ts',
    ],
    goal: 90,
  },
];
