#include "provider/provider.h"

namespace cofferdam::provider {
namespace {

Error unsupported(const Provider& provider, std::string_view what) {
  return Error(ErrorCode::kUnsupported, "provider " + provider.describe().key + " cannot " + std::string(what));
}

}  // namespace

async::Task<Result<Resumed>> Provider::resume(Call, LeaseRef) {
  co_return unsupported(*this, "resume a released sandbox");
}

async::Task<Status> Provider::pause(Call, LeaseRef) {
  co_return unsupported(*this, "pause a sandbox");
}

async::Task<Result<domain::Outcome>> Provider::attach(Call, LeaseRef, std::string, std::uint64_t, ExecutionIo&) {
  co_return unsupported(*this, "follow an execution that it did not start just now");
}

async::Task<Status> Provider::signal(Call, LeaseRef, std::string, int) {
  co_return unsupported(*this, "send a signal to an execution");
}

async::Task<Status> Provider::resize(Call, LeaseRef, std::string, ExecuteRequest::Terminal) {
  co_return unsupported(*this, "give an execution a terminal");
}

async::Task<Result<SyncReport>> Provider::sync_in(Call, LeaseRef, std::vector<SyncOperation>) {
  co_return unsupported(*this, "copy files in by itself");
}

async::Task<Result<SyncReport>> Provider::sync_out(Call, LeaseRef, std::vector<SyncOperation>) {
  co_return unsupported(*this, "copy files out by itself");
}

async::Task<Result<std::vector<FoundSandbox>>> Provider::list(Call) {
  co_return unsupported(*this, "list its sandboxes");
}

}  // namespace cofferdam::provider
