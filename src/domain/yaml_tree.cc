#include "domain/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/strings.h"

namespace cofferdam::domain {
namespace {

// Thrown through yaml-cpp, which knows no other way to stop it; caught in parse_yaml.
struct Refusal {
  int line;
  std::string message;
};

// Builds the tree from the parser's events. Working on events and not on yaml-cpp's own tree means that a bound is
// checked before memory is spent, and that an alias is seen as an alias.
class Builder : public YAML::EventHandler {
 public:
  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) refuse(mark, "a second document; a policy is one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({.kind = YamlNode::Kind::kNull, .line = mark.line + 1, .text = {}, .list = {}, .map = {}}, mark, "", anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "aliases (*name) are not accepted"); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    add({.kind = YamlNode::Kind::kScalar, .line = mark.line + 1, .text = value, .list = {}, .map = {}}, mark, tag,
        anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    std::optional<YamlNode> key;  // of a map, until its value comes
  };

  [[noreturn]] static void refuse(const YAML::Mark& mark, std::string message) {
    throw Refusal{mark.line + 1, std::move(message)};
  }

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "anchors (&name) are not accepted");
    if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, "tags (" + printable(tag) + ") are not accepted");
    if (++nodes_ > kMostYamlNodes) refuse(mark, "more than " + std::to_string(kMostYamlNodes) + " values");
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    check(mark, tag, anchor);
    if (stack_.size() >= kDeepestYaml) refuse(mark, "nested deeper than " + std::to_string(kDeepestYaml) + " levels");
    if (expects_key()) refuse(mark, "a key must be a plain text");
    stack_.push_back({{.kind = kind, .line = mark.line + 1, .text = {}, .list = {}, .map = {}}, std::nullopt});
  }

  void close() {
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    place(std::move(node));
  }

  void add(YamlNode node, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    check(mark, tag, anchor);
    if (!expects_key()) return place(std::move(node));
    if (node.kind != YamlNode::Kind::kScalar) refuse(mark, "a key must be a plain text");
    const std::vector<YamlNode::Member>& map = stack_.back().node.map;
    const auto twin = std::ranges::find(map, node.text, &YamlNode::Member::key);
    if (twin != map.end()) {
      refuse(mark,
             "the key \"" + printable(node.text) + "\" stands twice (also in line " + std::to_string(twin->line) + ")");
    }
    stack_.back().key = std::move(node);
  }

  bool expects_key() const {
    return !stack_.empty() && stack_.back().node.kind == YamlNode::Kind::kMap && !stack_.back().key;
  }

  void place(YamlNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& top = stack_.back();
    if (top.node.kind == YamlNode::Kind::kList) {
      top.node.list.push_back(std::move(node));
      return;
    }
    // An absent value has no place of its own: yaml-cpp reports the next token's.
    if (node.kind == YamlNode::Kind::kNull) node.line = top.key->line;
    top.node.map.push_back({std::move(top.key->text), top.key->line, std::move(node)});
    top.key.reset();
  }

  YamlNode root_;
  std::vector<Open> stack_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

Error refused(std::string_view file, int line, std::string_view message) {
  return {ErrorCode::kInvalidArgument, printable(file) + ":" + std::to_string(line) + ": " + std::string(message)};
}

}  // namespace

Result<YamlNode> parse_yaml(std::string_view text, std::string_view file) {
  if (text.size() > kLargestYaml) {
    return Error(ErrorCode::kInvalidArgument,
                 printable(file) + ": larger than " + std::to_string(kLargestYaml) + " bytes");
  }
  Builder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return refused(file, refusal.line, refusal.message);
  } catch (const YAML::Exception& error) {
    return refused(file, error.mark.line + 1, error.msg);
  }
  return builder.take_root();
}

std::string_view to_string(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "a text";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "something else";
}

}  // namespace cofferdam::domain
