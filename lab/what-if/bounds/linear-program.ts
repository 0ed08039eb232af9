import highs, { type Highs } from 'highs';
import { BacktestError } from '../trace/backtest-error.ts';

/** A linear sum: variables with their factors. */
export type Sum = readonly (readonly [variable: number, factor: number])[];

/** Minimizes the cost of non-negative variables under equations. HiGHS gives the same on every machine. */
export class LinearProgram {
  readonly #costs: number[] = [];
  readonly #starts: number[] = [0];
  readonly #variables: number[] = [];
  readonly #factors: number[] = [];
  readonly #results: number[] = [];

  addVariable(cost: number): number {
    return this.#costs.push(cost) - 1;
  }

  addEquation(sum: Sum, result: number): void {
    for (const [variable, factor] of sum) {
      this.#variables.push(variable);
      this.#factors.push(factor);
    }
    this.#starts.push(this.#variables.length);
    this.#results.push(result);
  }

  /** The values of the variables, within 1e-7 of the optimum (HiGHS's tolerance). Throws BacktestError. */
  async solve(): Promise<readonly number[]> {
    const solver = await loadSolver();
    const model = solver.createModel(this.#model());
    try {
      model.options.set({ output_flag: false, solver: 'simplex' });
      model.run();
      const status = model.getModelStatus();
      if (status !== solver.constants.modelStatus.optimal)
        throw new BacktestError(
          `solving a linear program of ${this.#costs.length} variables: HiGHS ended with status ${status} instead of an optimum; report this with the trace`,
        );
      return [...model.getSolution().colValue];
    } finally {
      model.dispose();
    }
  }

  #model() {
    const [numCols, numRows] = [this.#costs.length, this.#results.length];
    const [starts, indices, values] = [this.#starts, this.#variables, this.#factors];
    return {
      numCols,
      numRows,
      colCost: this.#costs,
      colLower: this.#costs.map(() => 0),
      colUpper: this.#costs.map(() => Number.POSITIVE_INFINITY),
      rowLower: this.#results,
      rowUpper: this.#results,
      matrix: { format: 'csr', numCols, numRows, starts, indices, values },
    } as const;
  }
}

/** The types describe the CommonJS module, where the function is the default export of the default export. */
const loadHighs = highs as unknown as typeof highs.default;

let loading: Promise<Highs> | undefined;

function loadSolver(): Promise<Highs> {
  loading ??= loadHighs();
  return loading;
}
