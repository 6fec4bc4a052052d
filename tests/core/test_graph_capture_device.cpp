// SPDX-License-Identifier: Apache-2.0
// The vector primitives captured in a CUDA graph do what they do when called.
#include "tests/capture_device.hpp"
#include "tests/catch.hpp"

namespace {

// Every primitive once, each reading what the one before wrote.
template <class T>
class Chain {
 public:
  Chain(const Context<Space::device>& ctx, std::int64_t n)
      : ctx_(ctx),
        start_(upload(ctx, random_vector<T>(n, 1))),
        d_(upload(ctx, random_vector<T>(n, 2))),
        from_(upload(ctx, random_order(static_cast<Index>(n), 3))),
        x_(ctx, n),
        y_(ctx, n),
        z_(ctx, n),
        single_(ctx, n),
        scalars_(ctx, 4) {
    std::vector<Offset> positions, first = {0};
    for (std::int64_t i = 0; i < n; ++i) {
      positions.push_back(i % 7 == 6 ? Offset{-1} : n - 1 - i);
      first.push_back(i + 1);
    }
    const auto at_positions = upload(ctx, positions);
    map_ = make_value_map(ctx, at_positions.cspan(), n);
    first_ = upload(ctx, first);
    source_ = upload(ctx, std::vector<Offset>(first.begin(), first.end() - 1));
    reset();
  }

  void reset() {
    const auto n = x_.size();
    x_ = poisoned<T>(ctx_, n);
    y_ = poisoned<T>(ctx_, n);
    z_ = poisoned<T>(ctx_, n);
    single_ = poisoned<float>(ctx_, n);
    scalars_ = poisoned<double>(ctx_, 4);
  }

  void run() {
    fill<T>(ctx_, T(0.5), x_.span());
    axpby<T>(ctx_, T(1.5), start_.cspan(), T(2), x_.span());
    axpy<T>(ctx_, T(-0.25), start_.cspan(), x_.span());
    scale<T>(ctx_, T(1.25), x_.span());
    multiply<T>(ctx_, T(2), d_.cspan(), x_.cspan(), T(0), y_.span());
    gather<T>(ctx_, y_.cspan(), from_.cspan(), z_.span());
    gather<T>(ctx_, z_.cspan(), map_, y_.span());
    gather<T>(ctx_, y_.cspan(), ValueMap<Space::device>(), z_.span());
    gather_sum<T>(ctx_, z_.cspan(), first_.cspan(), source_.cspan(), x_.span());
    sum<T>(ctx_, x_.cspan(), scalars_.data());
    subtract_mean<T>(ctx_, scalars_.data(), x_.span());
    multiply_dot<T>(ctx_, d_.cspan(), x_.cspan(), y_.span(), scalars_.data() + 1);
    dot<T>(ctx_, x_.cspan(), y_.cspan(), scalars_.data() + 2);
    norm2<T>(ctx_, y_.cspan(), scalars_.data() + 3);
    convert<T, float>(ctx_, y_.cspan(), single_.span());
  }

  std::vector<T> vectors() const {
    std::vector<T> all = download(ctx_, x_);
    for (const T value : download(ctx_, y_)) all.push_back(value);
    for (const T value : download(ctx_, z_)) all.push_back(value);
    for (const float value : download(ctx_, single_)) all.push_back(value);
    return all;
  }
  std::vector<double> scalars() const { return download(ctx_, scalars_); }

 private:
  Context<Space::device> ctx_;
  Array<T, Space::device> start_, d_;
  Array<Index, Space::device> from_;
  Array<Offset, Space::device> first_, source_;
  ValueMap<Space::device> map_;
  Array<T, Space::device> x_, y_, z_;
  Array<float, Space::device> single_;
  Array<double, Space::device> scalars_;
};

template <class T>
void check_chain(std::int64_t n) {
  INFO("n = " << n);
  const Context<Space::device> ctx;
  Chain<T> chain(ctx, n);
  chain.run();
  const std::vector<T> direct = chain.vectors();
  const std::vector<double> direct_scalars = chain.scalars();
  CHECK_FALSE(std::isnan(direct_scalars[3]));
  // A reset moves the arrays, so that it comes before the capture; the second launch starts from what the first left.
  chain.reset();
  const CapturedGraph graph(ctx, [&] { chain.run(); });
  CHECK(all_nan(chain.vectors()));
  for (int launch = 0; launch < 2; ++launch) {
    graph.launch();
    CHECK(same_bits(chain.vectors(), direct));
    CHECK(same_bits(chain.scalars(), direct_scalars));
  }
}

}  // namespace

TEST_CASE("The primitives captured in a graph equal the direct calls, bit for bit", "[vector_ops][device]") {
  for (const std::int64_t n : {1, 33, 4097, 100003}) {
    check_chain<double>(n);
    check_chain<float>(n);
  }
}

TEST_CASE("Reductions on two streams do not disturb each other", "[vector_ops][device]") {
  const Context<Space::device> one, two;
  const std::int64_t n = 300007;
  const auto x = random_vector<double>(n, 1), y = random_vector<double>(n, 2);
  const auto x_one = upload(one, x), y_one = upload(one, y), x_two = upload(two, x), y_two = upload(two, y);
  auto a = poisoned<double>(one, 50), b = poisoned<double>(two, 50);
  for (int k = 0; k < 50; ++k) {
    dot<double>(one, x_one.cspan(), y_one.cspan(), a.data() + k);
    dot<double>(two, x_two.cspan(), y_two.cspan(), b.data() + k);
  }
  const std::vector<double> found = download(one, a);
  CHECK(same_bits(found, std::vector<double>(50, found[0])));
  CHECK(same_bits(download(two, b), found));
}

TEST_CASE("A context works on a stream that the caller owns", "[core][device]") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  {
    const Context<Space::device> ctx(0, stream);
    CHECK(ctx.stream() == stream);
    CHECK(download(ctx, upload(ctx, std::vector<int>{1, 2, 3})) == std::vector<int>{1, 2, 3});
  }
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  const Context<Space::device> legacy(0, nullptr);
  CHECK(download(legacy, upload(legacy, std::vector<int>{4})) == std::vector<int>{4});
}

TEST_CASE("A device that does not exist is refused with how many there are", "[core][device]") {
  const std::string message = message_of<DeviceError>([] { Context<Space::device> ctx(1000); });
  CHECK(contains(message, "1000"));
  CHECK(contains(message, std::to_string(device_count())));
  CHECK_THROWS_AS(Context<Space::device>(-1), DeviceError);
}
