// SPDX-License-Identifier: Apache-2.0
// A folder has one run at a time.
#include "apps/transient/folder_lock.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/catch.hpp"

using transient::FolderLock;

TEST_IN_FOLDER("a folder is locked once, and the refusal names who has it", "[transient]") {
  const std::string place = folder.path().string();
  {
    const FolderLock lock(place, "newel-heat");
    CHECK(lock.remark().empty());
    const std::string refusal = message_of<InputError>([&] { FolderLock(place, "newel-heart"); });
    CHECK(contains(refusal, "--out " + place + ": newel-heat, process " + std::to_string(getpid())));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  const FolderLock again(place, "newel-heart");
}

TEST_IN_FOLDER("the lock of a process that was killed is taken over", "[transient]") {
  const std::string place = folder.path().string();
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const FolderLock lock(place, "newel-heat");
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(0);
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK(
      contains(message_of<InputError>([&] { FolderLock(place, "newel-heat"); }), "process " + std::to_string(child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(std::filesystem::exists(folder.file("run.lock")));
  std::optional<FolderLock> lock;
  lock.emplace(place, "newel-heat");
  CHECK(contains(message_of<InputError>([&] { FolderLock(place, "newel-heat"); }),
                 "process " + std::to_string(getpid())));
  lock.reset();
  CHECK_FALSE(std::filesystem::exists(folder.file("run.lock")));
  close(ready[0]);
  close(ready[1]);
}

TEST_IN_FOLDER("what is no file where the lock belongs is refused and left alone", "[transient]") {
  const std::string place = folder.path().string(), lock = folder.file("run.lock");
  folder.write("precious", "kept");
  std::filesystem::create_symlink(folder.file("precious"), lock);
  CHECK(contains(message_of<InputError>([&] { FolderLock(place, "newel-heat"); }), "it is a link"));
  CHECK(testing::file_content(folder.file("precious")) == "kept");
  std::filesystem::remove(lock);
  REQUIRE(mkfifo(lock.c_str(), 0600) == 0);
  CHECK(contains(message_of<InputError>([&] { FolderLock(place, "newel-heat"); }), "it is not a regular file"));
  std::filesystem::remove(lock);
  std::filesystem::create_directory(lock);
  CHECK_THROWS_AS(FolderLock(place, "newel-heat"), InputError);
}
