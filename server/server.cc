// server.cc — Putting the parts together and taking them apart.
// SPDX-License-Identifier: MIT
#include "server/server.h"

#include <asio/post.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "common/host_info.h"
#include "server/acceptor.h"
#include "server/convoy_sampler.h"
#include "server/cpu_list.h"
#include "server/default_docroot.h"
#include "server/docroot.h"
#include "server/event_loop.h"
#include "server/http_service.h"
#include "server/page_source.h"
#include "server/request_handler.h"

namespace convoy {

// In the order of construction: each needs those above it.
struct Server::Parts {
  explicit Parts(std::unique_ptr<ServerSetup> setup_)
      : setup(std::move(setup_)), control(*setup, [this] { return numbers(); }) {}

  ServerNumbers numbers() const;
  std::string address() const { return format_endpoint({setup->config.http.host, acceptor->port(), false}); }
  Result<void> open_docroot();
  Result<void> start_pool();
  std::string describe_ready() const;

  std::unique_ptr<ServerSetup> setup;
  Control control;
  std::unique_ptr<PageSource> pages;
  std::unique_ptr<DefaultDocroot> default_docroot;
  std::unique_ptr<Docroot> docroot;
  std::unique_ptr<RequestHandler> handler;
  std::unique_ptr<HttpService> service;
  std::vector<std::unique_ptr<EventLoop>> loops;
  std::unique_ptr<ConvoySampler> sampler;
  std::unique_ptr<Acceptor> acceptor;
  std::unique_ptr<WorkerPool> pool;
  std::vector<std::thread> loop_threads;
  std::string ready_line;  // as the settings were at the start: they may change from the first request on
  bool stopped = false;
};

ServerNumbers Server::Parts::numbers() const {
  ServerNumbers numbers;
  numbers.requests = service->requests();
  numbers.bytes = service->bytes();
  for (const auto& loop : loops) numbers.connections += loop->connections();
  numbers.accept_errors = acceptor->failed();
  numbers.address = address();
  numbers.workers = pool->snapshot();
  numbers.cache = pages->report();
  return numbers;
}

Result<void> Server::Parts::open_docroot() {
  std::string folder = setup->config.docroot;
  if (folder.empty()) {
    auto made = DefaultDocroot::create();
    if (!made) return tl::unexpected(made.error());
    default_docroot = std::move(*made);
    folder = default_docroot->folder();
  }
  auto opened =
      Docroot::open(folder, [this](std::uint64_t version, std::uint64_t size) { pages->drop(version, size); });
  if (!opened) return tl::unexpected(opened.error());
  docroot = std::move(*opened);
  return {};
}

Result<void> Server::Parts::start_pool() {
  const ServerConfig& config = setup->config;
  WorkerPool::Options options;
  options.workers = config.workers;
  options.awake = config.awake.value_or(available_cores());
  options.run = [this](Job& job, std::uint32_t worker) { service->run(static_cast<Connection&>(job), worker, *pool); };
  options.on_thread_start = [this](const WorkerHooks& hooks) { setup->locks.worker_started(hooks); };
  auto started = WorkerPool::start(std::move(options));
  if (!started) return tl::unexpected(started.error());
  pool = std::move(*started);
  return {};
}

ConnectionLimits connection_limits(const ServerConfig& config) {
  ConnectionLimits limits;
  limits.idle = config.idle_timeout;
  limits.send = config.send_timeout;
  return limits;
}

std::string Server::Parts::describe_ready() const {
  const ServerConfig& config = setup->config;
  std::string line = fmt::format("convoy-server ready http={} resp={} threading={} workers={} page-lock={}", address(),
                                 config.resp, config.threading, config.workers, config.page_lock);
  // The knobs of the page lock: unfairness always, the others where they are not as usual.
  for (const Setting& setting : setup->settings) {
    const bool usual = setting.key != "page-lock-unfairness" && setting.get() == setting.default_text;
    if (setting.key.rfind("page-lock-", 0) == 0 && !usual) line += fmt::format(" {}={}", setting.key, setting.get());
  }
  return line + fmt::format(" docroot={}", docroot->folder());
}

PageSource::Options page_options(const ServerConfig& config) {
  PageSource::Options options;
  options.folio_order = config.folio_order;
  options.capacity = config.capacity.bytes;
  options.access = config.access == "mmap" ? Access::kMmap : Access::kRead;
  return options;
}

tl::expected<std::unique_ptr<Server>, StartError> Server::start(std::unique_ptr<ServerSetup> setup) {
  auto parts = std::make_unique<Parts>(std::move(setup));
  Parts& p = *parts;
  const ServerConfig& config = p.setup->config;
  const auto refuse = [](const Error& error, int exit_code) {
    return tl::unexpected(StartError{error.message, exit_code});
  };
  if (config.http.off) return refuse({"http: 'off' leaves nothing to serve, as resp is off too"}, 2);
  const auto cpus = parse_cpu_list(config.cpus);
  if (!cpus) return refuse({"cpus: " + cpus.error().message}, 2);
  if (const auto pinned = pin_to_cpus(*cpus); !pinned) return refuse(pinned.error(), 2);
  if (const auto chosen = p.setup->locks.start(config); !chosen) return refuse(chosen.error(), 2);
  p.pages = std::make_unique<PageSource>(p.setup->locks.classes(), page_options(config));
  p.setup->locks.own_page_locks([&pages = *p.pages](std::uint8_t position) { pages.reset_page_locks(position); });
  for (std::uint32_t i = 0; i < config.io_threads; ++i) {
    p.loops.push_back(std::make_unique<EventLoop>(*p.pages, connection_limits(config)));
  }
  std::vector<EventLoop*> loops;
  for (const auto& loop : p.loops) loops.push_back(loop.get());
  auto acceptor = Acceptor::listen(loops, config.http.host, config.http.port);
  if (!acceptor) return refuse(acceptor.error(), 3);
  p.acceptor = std::move(*acceptor);
  if (const auto opened = p.open_docroot(); !opened) return refuse(opened.error(), 2);
  p.handler = std::make_unique<RequestHandler>(
      *p.docroot, [&p](const Request& request, std::string_view path, std::uint32_t worker) {
        return p.control.answer(request, path, worker);
      });
  p.service = std::make_unique<HttpService>(*p.handler, p.setup->locks.regions());
  if (const auto started = p.start_pool(); !started) return refuse(started.error(), 2);
  for (const auto& loop : p.loops) loop->set_pool(*p.pool);
  p.sampler = std::make_unique<ConvoySampler>(p.setup->locks);
  p.ready_line = p.describe_ready();
  p.acceptor->start();
  for (const auto& loop : p.loops) p.loop_threads.emplace_back([&loop = *loop] { loop.run(); });
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() { stop(); }

void Server::stop() {
  Parts& p = *parts_;
  if (std::exchange(p.stopped, true)) return;
  p.service->stop();
  asio::post(p.loops.front()->context(), [&p] { p.acceptor->close(); });
  for (const auto& loop : p.loops) loop->stop(kPatience);
  for (std::thread& thread : p.loop_threads) thread.join();
  p.pool.reset();
}

std::uint16_t Server::port() const { return parts_->acceptor->port(); }

const std::string& Server::ready_line() const { return parts_->ready_line; }

}  // namespace convoy
