/**
 * Least-cost flow by successive shortest paths, over a network of nodes and arcs. Sending along a
 * cheapest path keeps the flow the cheapest of all that send as much from each source. So sources
 * can be served one after the other in order of priority: a later one may move an earlier one's
 * flow to other arcs, but never reduces it.
 */
/** Nodes and arcs are numbers, in order of creation. */
export class Network {
  /** The node that all flow goes to. */
  readonly sink: number;
  readonly #arcsOf: number[][] = [];
  readonly #head: number[] = [];
  readonly #rest: number[] = [];
  readonly #cost: number[] = [];
  /**
   * By node, for one search: the distance is infinite before and after it.
   *
   * It is minus infinity, and no search comes through, for a dead node: no path leads from it to the sink, and none
   * ever will. A failed search has visited all that can be reached from its source, whatever it costs: no arc with
   * a rest leads out of there. A path to the sink cannot come through, so no later flow gives an arc out of there a
   * rest. Closing an arc gives it none. Nor does a new arc, since it leaves a new node.
   */
  readonly #distance: number[] = [];
  readonly #arrivedBy: number[] = [];
  readonly #isQueued: boolean[] = [];
  /** How many nodes there were at the last `send`. */
  #searched = 0;

  constructor() {
    this.sink = this.addNode();
  }

  addNode(): number {
    this.#distance.push(Number.POSITIVE_INFINITY);
    return this.#arcsOf.push([]) - 1;
  }

  /**
   * Adds an arc. The cost of a unit is a whole number, 0 or more. The arc must leave a node that is
   * newer than the last `send`. An older one may be dead, or the arc may close a cycle of negative
   * cost, in which a search would never end.
   */
  addArc(
    from: number,
    to: number,
    { capacity, cost }: { readonly capacity: number; readonly cost: number },
  ): number {
    if (from < this.#searched)
      throw new RangeError(`adding an arc: node ${from} is not new; add its arcs before the next send`);
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

  /** Sends up to `amount` to the sink along the cheapest paths. Returns how much got through. */
  send(source: number, amount: number): number {
    this.#searched = this.#arcsOf.length;
    let sent = 0;
    while (sent < amount) {
      const path = this.#cheapestPath(source);
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
  #cheapestPath(source: number): readonly number[] | undefined {
    const distance = this.#distance;
    const isQueued = this.#isQueued;
    const queue = [source];
    distance[source] = 0;
    for (const node of queue) {
      isQueued[node] = false;
      for (const arc of this.#arcsOf[node] ?? []) {
        const to = this.#head[arc] ?? 0;
        if (this.#rest[arc] === 0) continue;
        const through = (distance[node] ?? 0) + (this.#cost[arc] ?? 0);
        if (through >= (distance[to] ?? 0)) continue;
        distance[to] = through;
        this.#arrivedBy[to] = arc;
        if (isQueued[to]) continue;
        isQueued[to] = true;
        queue.push(to);
      }
    }
    const isReached = distance[this.sink] !== Number.POSITIVE_INFINITY;
    const after = isReached ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    for (const node of queue) distance[node] = after;
    return isReached ? this.#pathFrom(source) : undefined;
  }

  #pathFrom(source: number): readonly number[] {
    const path: number[] = [];
    for (let node = this.sink; node !== source; ) {
      const arc = this.#arrivedBy[node] ?? 0;
      path.push(arc);
      node = this.#head[arc ^ 1] ?? source;
    }
    return path;
  }
}
