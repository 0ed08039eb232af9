/**
 * Least-cost flow by successive shortest paths. Sending along a cheapest path keeps the flow the cheapest of
 * all that send as much from each source, so sources can be served one after the other in order of priority: a
 * later one may move an earlier one's flow to other arcs, and never takes any of it away.
 */

import { sum } from '../model/collections.ts';

/** A directed network with capacities and costs. Nodes and arcs are numbers, in order of making. */
export class Network {
  readonly #arcsOf: number[][] = [];
  readonly #head: number[] = [];
  readonly #rest: number[] = [];
  readonly #cost: number[] = [];

  addNode(): number {
    return this.#arcsOf.push([]) - 1;
  }

  /** Adds an arc; costs are whole numbers, 0 or more, a unit. */
  addArc(
    from: number,
    to: number,
    { capacity, cost }: { readonly capacity: number; readonly cost: number },
  ): number {
    const arc = this.#half(from, to, capacity, cost);
    this.#half(to, from, 0, -cost);
    return arc;
  }

  /** What flows through an arc. */
  flowOf(arc: number): number {
    return this.#rest[arc ^ 1] ?? 0;
  }

  /** Lets nothing more through an arc. What flows through it may still be moved away. */
  close(arc: number): void {
    this.#rest[arc] = 0;
  }

  /** Sends up to `amount` along cheapest paths; returns how much went through. */
  send(source: number, sink: number, amount: number): number {
    return this.#sendWhile(source, sink, () => amount);
  }

  /**
   * Sends one unit after the other along cheapest paths, while the next is worth its cost; returns how many went through.
   * @param values of the first, the second, …; never rising
   */
  sendWorth(source: number, sink: number, values: readonly number[]): number {
    return this.#sendWhile(source, sink, (cost) => {
      const refused = values.findIndex((value) => value < cost);
      return refused < 0 ? values.length : refused;
    });
  }

  /** `mostAt`: how much may go through in all where a unit costs so much. */
  #sendWhile(source: number, sink: number, mostAt: (cost: number) => number): number {
    let sent = 0;
    for (;;) {
      if (sent >= mostAt(0)) break;
      const path = this.#cheapestPath(source, sink);
      if (path === undefined) break;
      const most = mostAt(sum(path, (arc) => this.#cost[arc] ?? 0)) - sent;
      if (most <= 0) break;
      const units = path.reduce((least, arc) => Math.min(least, this.#rest[arc] ?? 0), most);
      for (const arc of path) this.#push(arc, units);
      sent += units;
    }
    return sent;
  }

  #half(from: number, to: number, capacity: number, cost: number): number {
    const arc = this.#head.push(to) - 1;
    this.#rest.push(capacity);
    this.#cost.push(cost);
    this.#arcsOf[from]?.push(arc);
    return arc;
  }

  #push(arc: number, units: number): void {
    this.#rest[arc] = (this.#rest[arc] ?? 0) - units;
    this.#rest[arc ^ 1] = (this.#rest[arc ^ 1] ?? 0) + units;
  }

  /** Bellman and Ford's, with a queue: moving flow away from an arc has a negative cost. */
  #cheapestPath(source: number, sink: number): readonly number[] | undefined {
    const distance = new Array<number>(this.#arcsOf.length).fill(Number.POSITIVE_INFINITY);
    const arrivedBy = new Array<number>(this.#arcsOf.length).fill(-1);
    const isQueued = new Array<boolean>(this.#arcsOf.length).fill(false);
    const queue = [source];
    distance[source] = 0;
    for (const node of queue) {
      isQueued[node] = false;
      for (const arc of this.#arcsOf[node] ?? []) {
        const to = this.#head[arc] ?? 0;
        const through = (distance[node] ?? 0) + (this.#cost[arc] ?? 0);
        if ((this.#rest[arc] ?? 0) === 0 || through >= (distance[to] ?? 0)) continue;
        distance[to] = through;
        arrivedBy[to] = arc;
        if (isQueued[to]) continue;
        isQueued[to] = true;
        queue.push(to);
      }
    }
    return distance[sink] === Number.POSITIVE_INFINITY ? undefined : this.#pathTo(sink, source, arrivedBy);
  }

  #pathTo(sink: number, source: number, arrivedBy: readonly number[]): readonly number[] {
    const path: number[] = [];
    for (let node = sink; node !== source; ) {
      const arc = arrivedBy[node] ?? 0;
      path.push(arc);
      node = this.#head[arc ^ 1] ?? source;
    }
    return path;
  }
}
