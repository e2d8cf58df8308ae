// The search runs in a worker, which browsers do not start for a page that lies on the disk. There, a hidden frame works.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.document.open();
      this.inside.document.write("<body></body>");
      this.inside.document.close();
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.inside.document.createElement("script");
      this.ready = new Promise((resolve) => script.addEventListener("load", resolve));
      script.src = url;
      this.inside.document.body.append(script);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
