/**
 * Least-cost flow by successive shortest paths, over a network of nodes and arcs. Sending along a
 * cheapest path keeps the flow the cheapest of all that send as much from each source. So sources
 * can be served one after the other in order of priority: a later one may move an earlier one's
 * flow to other arcs, but never reduces it.
 */
/** Nodes and arcs are numbers, in order of creation. */
export class Network {
  readonly #arcsOf: number[][] = [];
  readonly #head: number[] = [];
  readonly #rest: number[] = [];
  readonly #cost: number[] = [];
  /** By node, for one search: the distance is infinite before and after it. */
  readonly #distance: number[] = [];
  readonly #arrivedBy: number[] = [];
  readonly #isQueued: boolean[] = [];

  addNode(): number {
    this.#distance.push(Number.POSITIVE_INFINITY);
    return this.#arcsOf.push([]) - 1;
  }

  /** Adds an arc. The cost of a unit is a whole number, 0 or more. */
  addArc(
    from: number,
    to: number,
    { capacity, cost }: { readonly capacity: number; readonly cost: number },
  ): number {
    const arc = this.#addHalfArc(from, to, capacity, cost);
    this.#addHalfArc(to, from, 0, -cost);
    return arc;
  }

  /** The flow through an arc. */
  flowOf(arc: number): number {
    return this.#rest[arc ^ 1] ?? 0;
  }

  /** Stops further flow through an arc. Its present flow may still move to other arcs. */
  close(arc: number): void {
    this.#rest[arc] = 0;
  }

  /** Sends up to `amount` along the cheapest paths. Returns how much got through. */
  send(source: number, sink: number, amount: number): number {
    let sent = 0;
    while (sent < amount) {
      const path = this.#cheapestPath(source, sink);
      if (path === undefined) break;
      const units = path.reduce((least, arc) => Math.min(least, this.#rest[arc] ?? 0), amount - sent);
      for (const arc of path) this.#push(arc, units);
      sent += units;
    }
    return sent;
  }

  #addHalfArc(from: number, to: number, capacity: number, cost: number): number {
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

  /** Bellman-Ford with a queue, because moving flow away from an arc has a negative cost. */
  #cheapestPath(source: number, sink: number): readonly number[] | undefined {
    const distance = this.#distance;
    const isQueued = this.#isQueued;
    const queue = [source];
    distance[source] = 0;
    for (const node of queue) {
      isQueued[node] = false;
      for (const arc of this.#arcsOf[node] ?? []) {
        if (this.#rest[arc] === 0) continue;
        const to = this.#head[arc] ?? 0;
        const through = (distance[node] ?? 0) + (this.#cost[arc] ?? 0);
        if (through >= (distance[to] ?? 0)) continue;
        distance[to] = through;
        this.#arrivedBy[to] = arc;
        if (isQueued[to]) continue;
        isQueued[to] = true;
        queue.push(to);
      }
    }
    const isReached = distance[sink] !== Number.POSITIVE_INFINITY;
    for (const node of queue) distance[node] = Number.POSITIVE_INFINITY;
    return isReached ? this.#pathTo(sink, source) : undefined;
  }

  #pathTo(sink: number, source: number): readonly number[] {
    const path: number[] = [];
    for (let node = sink; node !== source; ) {
      const arc = this.#arrivedBy[node] ?? 0;
      path.push(arc);
      node = this.#head[arc ^ 1] ?? source;
    }
    return path;
  }
}
