// Absolute-form requests through a real proxy loop on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy_fixture.h"

namespace cofferdam::egress {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string url(const Origin& origin, std::string_view path = "/") {
  return "http://127.0.0.1:" + std::to_string(origin.port()) + std::string(path);
}

// Answers every request with its own head as the body.
void mirror(Connection& connection) {
  while (true) {
    const std::string head = connection.read_until("\r\n\r\n");
    if (!head.ends_with("\r\n\r\n")) return;
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(head.size()) + "\r\n\r\n" + head);
  }
}

Origin::Handler answer_with(std::string response) {
  return [response = std::move(response)](Connection& connection) {
    connection.read_until("\r\n\r\n");
    connection.send(response);
  };
}

class ForwardTest : public testing::Test {
 protected:
  void start(const Origin& origin) {
    proxy_.allow("127.0.0.1:" + std::to_string(origin.port()));
    proxy_.start();
  }
  std::string ask(const std::string& request) {
    Connection client = Connection::to(proxy_.port());
    client.send(request);
    return client.read_all();
  }

  TestProxy proxy_;
};

TEST_F(ForwardTest, StripsWhatConcernsOneHopOnly) {
  Origin origin(mirror);
  start(origin);
  const std::string answer =
      ask("GET " + url(origin, "/a?b") +
          " HTTP/1.1\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic c2VjcmV0\r\nTE: "
          "trailers\r\nKeep-Alive: 5\r\n"
          "X-Kept: 1\r\nX-Named: 1\r\nUpgrade: h2c\r\nConnection: close, x-named, Host, content-length\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("GET /a?b HTTP/1.1\r\n"));
  EXPECT_THAT(answer, HasSubstr("Host: 127.0.0.1:" + std::to_string(origin.port()) + "\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Kept: 1\r\n"));
  for (const char* gone : {"Proxy-Connection", "c2VjcmV0", "TE:", "Keep-Alive", "X-Named", "Upgrade"}) {
    EXPECT_THAT(answer, Not(HasSubstr(gone)));
  }
}

TEST_F(ForwardTest, DecidesEachRequestOfAConnectionOnItsOwn) {
  Origin origin(mirror);
  start(origin);
  Connection client = Connection::to(proxy_.port());
  client.send("GET " + url(origin, "/1") + " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_response(), HasSubstr("GET /1 "));
  client.send("GET http://evil.test/ HTTP/1.1\r\n\r\n");
  const std::string denied = client.read_response();
  EXPECT_THAT(
      denied,
      AllOf(StartsWith("HTTP/1.1 403 Forbidden\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: "),
            HasSubstr("\"host\":\"evil.test\",\"port\":80")));
  client.send("GET " + url(origin, "/2") + " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_response(), HasSubstr("GET /2 "));
  EXPECT_EQ(origin.accepted(), 1);
}

TEST_F(ForwardTest, AnswersPipelinedRequestsInOrder) {
  Origin origin(mirror);
  start(origin);
  const std::string answer =
      ask("GET " + url(origin, "/1") + " HTTP/1.1\r\n\r\nGET " + url(origin, "/2") + " HTTP/1.1\r\n\r\nGET " +
          url(origin, "/3") + " HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::size_t first = answer.find("GET /1 ");
  const std::size_t second = answer.find("GET /2 ");
  const std::size_t third = answer.find("GET /3 ");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
}

TEST_F(ForwardTest, StreamsBodiesUp) {
  std::string got;
  Origin origin([&](Connection& connection) {
    const std::string head = connection.read_until("\r\n\r\n");
    if (head.contains("chunked")) {
      got = connection.read_until("0\r\n\r\n");
    } else {
      got = connection.read_exactly(1'000'000);
    }
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  start(origin);
  EXPECT_THAT(ask("POST " + url(origin) + " HTTP/1.1\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n" +
                  std::string(1'000'000, 'b')),
              EndsWith("\r\n\r\nok"));
  EXPECT_EQ(got, std::string(1'000'000, 'b'));
  EXPECT_THAT(ask("POST " + url(origin) +
                  " HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: "
                  "chunked\r\n\r\n3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n"),
              EndsWith("\r\n\r\nok"));
  EXPECT_TRUE(got == "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" || got == "5\r\nabcde\r\n0\r\n\r\n") << got;
}

TEST_F(ForwardTest, MalformedChunksAreRefused) {
  Origin origin([](Connection& connection) { connection.read_all(); });
  start(origin);
  for (const char* body : {"zz\r\nabc\r\n0\r\n\r\n", "3\nabc\r\n0\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n", "-1\r\n\r\n",
                           "ffffffffffffffffff\r\n"}) {
    EXPECT_THAT(ask("POST " + url(origin) + " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + body),
                StartsWith("HTTP/1.1 400"))
        << body;
  }
}

TEST_F(ForwardTest, PassesInterimResponsesAndExpect) {
  Origin origin([](Connection& connection) {
    const std::string head = connection.read_until("\r\n\r\n");
    if (!head.contains("Expect: 100-continue")) return;
    connection.send("HTTP/1.1 100 Continue\r\n\r\n");
    const std::string body = connection.read_exactly(4);
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + body);
  });
  start(origin);
  Connection client = Connection::to(proxy_.port());
  client.send("POST " + url(origin) + " HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("body");
  EXPECT_THAT(client.read_response(), EndsWith("body"));
}

TEST_F(ForwardTest, EventsFlowAtOnce) {
  std::atomic<bool> go_on = false;
  Origin origin([&](Connection& connection) {
    connection.read_until("\r\n\r\n");
    connection.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n");
    while (!go_on) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    connection.send("9\r\ndata: 2\n\n\r\n0\r\n\r\n");
  });
  start(origin);
  Connection client = Connection::to(proxy_.port());
  client.send("GET " + url(origin) + " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_until("data: 1\n\n"), EndsWith("data: 1\n\n"));  // while the origin still holds the rest
  go_on = true;
  EXPECT_THAT(client.read_until("0\r\n\r\n"), HasSubstr("data: 2\n\n"));
}

TEST_F(ForwardTest, EveryKindOfEndOfABody) {
  {
    Origin origin(answer_with("HTTP/1.1 200 OK\r\n\r\nuntil the end"));
    TestProxy proxy;
    proxy.allow("127.0.0.1:" + std::to_string(origin.port()));
    proxy.start();
    Connection client = Connection::to(proxy.port());
    client.send("GET " + url(origin) + " HTTP/1.1\r\n\r\n");
    EXPECT_THAT(client.read_all(), AllOf(HasSubstr("Connection: close\r\n"), EndsWith("\r\n\r\nuntil the end")));
  }
  for (const char* bodiless :
       {"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n"}) {
    Origin origin(answer_with(bodiless));
    TestProxy proxy;
    proxy.allow("127.0.0.1:" + std::to_string(origin.port()));
    proxy.start();
    Connection client = Connection::to(proxy.port());
    client.send("GET " + url(origin) + " HTTP/1.1\r\n\r\n");
    EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith(std::string(bodiless).substr(0, 12)));
    client.send("GET http://evil.test/ HTTP/1.1\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 403"));
  }
  Origin origin(answer_with("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"));
  start(origin);
  EXPECT_THAT(ask("HEAD " + url(origin) + " HTTP/1.1\r\nConnection: close\r\n\r\n"),
              AllOf(HasSubstr("Content-Length: 1000\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(ForwardTest, OldClientsGetNoChunks) {
  Origin origin(answer_with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
  start(origin);
  const std::string answer = ask("GET " + url(origin) + " HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, AllOf(EndsWith("\r\n\r\nabc"), Not(HasSubstr("chunked"))));
}

TEST_F(ForwardTest, AResponseThatBreaksOffIsNotPassedAsWhole) {
  Origin origin(answer_with("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"));
  start(origin);
  Connection client = Connection::to(proxy_.port());
  client.send("GET " + url(origin) + " HTTP/1.1\r\n\r\n");
  client.read_all();
  EXPECT_EQ(client.last_error(), ECONNRESET);
}

TEST_F(ForwardTest, TellsWhyTheOriginDidNotAnswer) {
  Origin garbage(answer_with("this is no HTTP\r\n\r\n"));
  Origin silent([](Connection& connection) { connection.read_until("\r\n\r\n"); });
  Origin resets([](Connection& connection) {
    connection.read_until("\r\n\r\n");
    connection.reset();
  });
  for (const Origin* origin : {&garbage, &silent, &resets}) proxy_.allow("127.0.0.1:" + std::to_string(origin->port()));
  proxy_.allow("gone.test");
  proxy_.start();
  EXPECT_THAT(ask("GET " + url(garbage) + " HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("bad_response")));
  EXPECT_THAT(ask("GET " + url(silent) + " HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("upstream_closed")));
  EXPECT_THAT(ask("GET " + url(resets) + " HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("upstream_closed")));
  EXPECT_THAT(ask("GET http://gone.test/ HTTP/1.1\r\nConnection: close\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("nxdomain")));
}

TEST_F(ForwardTest, AnEarlyAnswerEndsAnUnfinishedUpload) {
  Origin origin([](Connection& connection) {
    connection.read_until("\r\n\r\n");
    connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig");
  });
  start(origin);
  Connection client = Connection::to(proxy_.port());
  client.send("POST " + url(origin) + " HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n" + std::string(10'000, 'x'));
  EXPECT_THAT(client.read_response(), AllOf(StartsWith("HTTP/1.1 413"), EndsWith("big")));
  EXPECT_TRUE(client.ends());
}

TEST_F(ForwardTest, AClientThatLeavesEndsTheRequest) {
  Origin origin([](Connection& connection) {
    connection.read_until("\r\n\r\n");
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (connection.send("1\r\n.\r\n")) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  start(origin);
  Connection client = Connection::to(proxy_.port());
  client.send("GET " + url(origin) + " HTTP/1.1\r\n\r\n");
  client.read_until("\r\n\r\n");
  client.reset();
  EXPECT_TRUE(proxy_.becomes_idle());
}

TEST_F(ForwardTest, AClientThatLeavesASilentOriginEndsTheRequest) {
  Origin origin([](Connection& connection) { connection.read_all(); });
  start(origin);
  for (const std::string request : {" HTTP/1.1\r\n\r\n", " HTTP/1.1\r\nContent-Length: 2\r\n\r\nok"}) {
    Connection client = Connection::to(proxy_.port());
    client.send("POST " + url(origin) + request);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    client.reset();
    EXPECT_TRUE(proxy_.becomes_idle()) << request;
  }
}

TEST_F(ForwardTest, AHalfClosedClientStillGetsItsAnswer) {
  Origin origin([](Connection& connection) {
    connection.read_until("\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  start(origin);
  Connection client = Connection::to(proxy_.port());
  client.send("GET " + url(origin) + " HTTP/1.1\r\n\r\n");
  client.half_close();
  EXPECT_THAT(client.read_all(), EndsWith("ok"));
}

TEST_F(ForwardTest, WebSocketsAreSwitchedThrough) {
  Origin origin([](Connection& connection) {
    const std::string head = connection.read_until("\r\n\r\n");
    if (!head.contains("Connection: Upgrade\r\n") || !head.contains("Upgrade: websocket\r\n")) return;
    connection.send(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
        "x\r\n\r\nhi");
    echo(connection);
  });
  start(origin);
  Connection client = Connection::to(proxy_.port());
  client.send("GET " + url(origin) +
              " HTTP/1.1\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n");
  EXPECT_THAT(client.read_until("\r\n\r\n"), AllOf(StartsWith("HTTP/1.1 101"), HasSubstr("Sec-WebSocket-Accept: x")));
  EXPECT_EQ(client.read_exactly(2), "hi");
  client.send("frame");
  EXPECT_EQ(client.read_exactly(5), "frame");
}

TEST_F(ForwardTest, AnUnaskedSwitchIsNotPassed) {
  Origin origin(answer_with("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nraw"));
  start(origin);
  EXPECT_THAT(ask("GET " + url(origin) + " HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 502"), Not(HasSubstr("raw"))));
}

TEST_F(ForwardTest, ALargeDownloadIsWhole) {
  const std::string body(20'000'000, 'd');
  Origin origin(answer_with("HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n" + body));
  start(origin);
  const std::string answer = ask("GET " + url(origin) + " HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, body.size());
}

TEST_F(ForwardTest, MalformedRequestsGet400AndTheConnectionEnds) {
  proxy_.start();
  for (const char* request :
       {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET https://a.com/ HTTP/1.1\r\n\r\n", "GET http://a.com/ HTTP/1.1\n\n",
        "POST http://a.com/ HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://b/ "
        "HTTP/1.1\r\n\r\n"}) {
    const std::string answer = ask(request);
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"), EndsWith("}}\n")))
        << request;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << "a second answer to one request";
  }
  EXPECT_THAT(ask("GET http://a.com/" + std::string(20'000, 'x') + " HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 431"));
}

}  // namespace
}  // namespace cofferdam::egress
