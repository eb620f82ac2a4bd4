// Classifies an image by an exported net: the five classes with the highest probabilities.
//
//   c++ -std=c++14 -O2 -I "$(lamina info --include)" classify.cc -o classify -ldl
//   ./classify ./net.so image.bin [NAME]
//
// The image is a file of raw float32, in the shape of the net's first input; the first output is one row of
// probabilities. NAME is that of the net, by default what stands before the suffix of the library's name.

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "lamina.h"

namespace {

// A net with a state to run in, for one call at a time.
class Net {
 public:
  Net(const std::string& path, const std::string& name) : code_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), dlclose) {
    if (!code_) throw std::runtime_error(dlerror());
    net_ = static_cast<const lamina_net*>(dlsym(code_.get(), ("lamina_" + name).c_str()));
    if (!net_) throw std::runtime_error(dlerror());
    if (lamina_check(net_)) throw std::runtime_error(path + ": has another version of the interface");
    uint64_t bytes = 0;
    Check(net_->sizes(nullptr, net_->threads, nullptr, &bytes));
    state_ = Aligned(&memory_, bytes);
    void* params = nullptr;
    if (lamina_packs(net_)) {
      std::vector<unsigned char> room;
      params = Aligned(&weights_, net_->params_bytes);
      Check(net_->pack(params, Aligned(&room, net_->room_bytes)));
    }
    Check(net_->start(state_, params, net_->threads, LAMINA_SPINS));
    started_.reset(this);
  }
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  const lamina_net* operator->() const { return net_; }

  void Run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
    Check(net_->run(state_, inputs.data(), outputs.data()));
  }

 private:
  void Check(int32_t code) const {
    if (code) throw std::runtime_error(net_->text(code));
  }
  void* Aligned(std::vector<unsigned char>* memory, uint64_t bytes) const {
    memory->resize(bytes + net_->alignment);
    void* first = memory->data();
    size_t room = memory->size();
    return std::align(net_->alignment, bytes, first, room);
  }
  // Its threads end before its memory and its code go.
  struct Stop {
    void operator()(Net* net) const { net->net_->stop(net->state_); }
  };
  std::unique_ptr<void, int (*)(void*)> code_;
  const lamina_net* net_ = nullptr;
  std::vector<unsigned char> memory_, weights_;
  void* state_ = nullptr;
  std::unique_ptr<Net, Stop> started_;
};

// The elements of a tensor of float32.
std::vector<float> Floats(const lamina_port& port) {
  if (port.code != 2 || port.bits != 32 || !port.bytes)
    throw std::runtime_error(std::string(port.name) + ": is no tensor of float32 of a known shape");
  return std::vector<float>(port.bytes / sizeof(float));
}

void Read(const std::string& path, std::vector<float>* to) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t wanted = to->size() * sizeof(float);
  if (bytes.size() != wanted)
    throw std::runtime_error(path + ": has " + std::to_string(bytes.size()) + " bytes, the net's input " +
                             std::to_string(wanted));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(to->data()));
}

std::string NameOf(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  return file.substr(0, file.find('.'));
}

void Classify(const std::string& path, const std::string& image, const std::string& name) {
  Net net(path, name);
  if (net->n_inputs != 1 || net->n_outputs != 1) throw std::runtime_error(path + ": has not one input and one output");
  std::vector<float> pixels = Floats(net->inputs[0]), probabilities = Floats(net->outputs[0]);
  Read(image, &pixels);
  net.Run({pixels.data()}, {probabilities.data()});
  std::vector<size_t> classes(probabilities.size());
  std::iota(classes.begin(), classes.end(), 0);
  const size_t count = std::min<size_t>(5, classes.size());
  std::partial_sort(classes.begin(), classes.begin() + static_cast<std::ptrdiff_t>(count), classes.end(),
                    [&](size_t a, size_t b) { return probabilities[a] > probabilities[b]; });
  for (size_t n = 0; n < count; n++) std::cout << classes[n] << ' ' << std::fixed << probabilities[classes[n]] << '\n';
}

}  // namespace

int main(int count, char** words) {
  if (count != 3 && count != 4) {
    std::cerr << "usage: " << words[0] << " LIBRARY IMAGE [NAME]\n";
    return 2;
  }
  try {
    Classify(words[1], words[2], count == 4 ? words[3] : NameOf(words[1]));
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
