/* Search without a server. Browsers start no worker for a page that was opened from the disk; there the worker's script
   runs in a hidden frame instead. The bundle of the theme asks for importScripts in that frame to return a promise. */
(() => {
  'use strict';
  if (location.protocol !== 'file:') return;
  class FrameWorker extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      const frame = document.createElement('iframe');
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.tell(this, data);
      this.inside.importScripts = (...addresses) =>
          addresses.reduce((before, one) => before.then(() => this.load(one)), Promise.resolve());
      this.load(new URL(address, location.href)).then(() => {
        for (const data of this.waiting.splice(0)) this.tell(this.inside, data);
        this.waiting = null;
      });
    }
    load(address) {
      return new Promise((done, failed) => {
        const script = this.inside.document.createElement('script');
        script.src = address;
        script.onload = () => done();
        script.onerror = () => failed(new Error(`can't load ${address}`));
        this.inside.document.body.append(script);
      });
    }
    tell(target, data) {
      setTimeout(() => {
        const event = new MessageEvent('message', {data});
        target.dispatchEvent(event);
        const handler = target.onmessage;
        if (typeof handler === 'function') handler.call(target, event);
      });
    }
    postMessage(data) {
      if (this.waiting)
        this.waiting.push(data);
      else
        this.tell(this.inside, data);
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  }
  window.Worker = window.IFrameWorker = FrameWorker;
})();
