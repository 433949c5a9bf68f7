/** Tells which responses are still worth showing: they may arrive in another order than they were
    asked for, and the newest wins. */
export class ResponseOrder {
  #sent = 0;
  #newest = 0;

  /** Called with a request. The function it returns is called with the response, and says whether
      no newer one was there before. */
  send(): () => boolean {
    const sequence = ++this.#sent;
    return () => {
      if (sequence < this.#newest) return false;
      this.#newest = sequence;
      return true;
    };
  }

  /** What is shown now is newer than every response under way. Whether there was one, which may
      have known something else. */
  discard(): boolean {
    const isUnderWay = this.#newest < this.#sent;
    this.#newest = ++this.#sent;
    return isUnderWay;
  }
}
