// tvm/runtime/module.h: libraries, and what they make.

#ifndef TVM_RUNTIME_MODULE_H_
#define TVM_RUNTIME_MODULE_H_

#include <tvm/runtime/logging.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tvm {
namespace runtime {

class PackedFunc;
class Module;

/// A module as `mod->...` has it.
class ModuleNode {
 public:
  const char* type_key() const { return module_->type_key; }
  PackedFunc GetFunction(const std::string& name, bool query_imports = false) const;
  /// The modules that this one finds functions of.
  std::vector<Module> imports() const;
  void Import(const Module& other);

 private:
  friend class Module;
  lamina_tvm_module* module_ = nullptr;
};

class Module {
 public:
  Module() = default;
  Module(const Module& other) : Module(Sharing(other.node_.module_)) {}
  Module(Module&& other) noexcept { std::swap(node_.module_, other.node_.module_); }
  Module& operator=(Module other) noexcept {
    std::swap(node_.module_, other.node_.module_);
    return *this;
  }
  ~Module() { TVMModFree(node_.module_); }

  /// Load a library; the format is "so", or "" for what the file's name says. Throws Error.
  static Module LoadFromFile(const std::string& file_name, const std::string& format = "") {
    TVMModuleHandle made = nullptr;
    TVM_CCALL(TVMModLoadFromFile(file_name.c_str(), format.c_str(), &made));
    return Owning(made);
  }

  /// The module behind a handle of the C interface, which has ended its own reference by that.
  static Module Owning(TVMModuleHandle handle) {
    Module module;
    module.node_.module_ = static_cast<lamina_tvm_module*>(handle);
    return module;
  }

  /// The module behind a handle of the C interface, as one more reference.
  static Module Sharing(TVMModuleHandle handle) {
    if (handle) LAMINA_TVM_RETAIN(static_cast<lamina_tvm_module*>(handle));
    return Owning(handle);
  }

  /// A function by its name; null where there is none. Throws Error for a module that is null.
  PackedFunc GetFunction(const std::string& name, bool query_imports = false) const;
  void Import(const Module& other) { node_.Import(other); }

  ModuleNode* operator->() { return &node_; }
  const ModuleNode* operator->() const { return &node_; }
  lamina_tvm_module* get() const { return node_.module_; }
  bool defined() const { return node_.module_ != nullptr; }
  bool operator==(std::nullptr_t) const { return !defined(); }
  bool operator!=(std::nullptr_t) const { return defined(); }
  bool same_as(const Module& other) const { return get() == other.get(); }

 private:
  ModuleNode node_;
};

inline std::vector<Module> ModuleNode::imports() const {
  std::vector<Module> found;
  for (int n = 0; n < module_->n_imports; n++) found.push_back(Module::Sharing(module_->imports[n]));
  return found;
}

inline void ModuleNode::Import(const Module& other) { TVM_CCALL(TVMModImport(module_, other.get())); }

}  // namespace runtime
}  // namespace tvm

#include <tvm/runtime/packed_func.h>

#endif  // TVM_RUNTIME_MODULE_H_
